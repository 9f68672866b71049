package sparkrules.lists

import org.apache.spark.unsafe.types.UTF8String

import sparkrules.store.Store
import sparkrules.value.{LazyBroadcast, LruCache}

/** The lists of a rule set as they are now. A query looks each of them up once, so all its rows see the same. */
final class PinnedLists(store: Store, ruleSet: String) {
  private val known = scala.collection.mutable.HashMap.empty[String, Option[PinnedList]]

  /** The list of a name; None if there is none. */
  def get(name: String): Option[PinnedList] = known.getOrElseUpdate(
    name,
    StoredList.newest(store, ruleSet, name).flatMap { number =>
      PinnedLists.content(store, ruleSet, name, number)(StoredList.read(store, ruleSet, name, number))
    })
}

object PinnedLists {
  private val cache = new LruCache[(String, String, String, Long), PinnedList]
  private val MostLists = 64

  private def content(store: Store, ruleSet: String, name: String, number: Long)(
      list: => Option[StoredList]): Option[PinnedList] = {
    val key = (store.qualified, ruleSet, name, number)
    cache.get(key).orElse(list.map { own =>
      val made = new LazyBroadcast[ReferenceList](() => ReferenceList.of(own.kind, own.values(store)))
      val pinned = PinnedList(key._1, ruleSet, name, number)(made)
      cache.put(key, pinned)
      cache.trim(MostLists).foreach(_.free())
      pinned
    })
  }
}

/** A version of a list. Plans are equal if they have the same versions. */
final case class PinnedList(store: String, ruleSet: String, name: String, number: Long)(
    content: LazyBroadcast[ReferenceList])
    extends ListContent {
  override def asked(): UTF8String => Boolean = content.value.asked()
  override protected def otherCopyArgs: Seq[AnyRef] = content :: Nil
  override def toString: String = s"$ruleSet/$name@$number"
  override def sql: String = s"'$name'"

  def free(): Unit = content.free()
}
