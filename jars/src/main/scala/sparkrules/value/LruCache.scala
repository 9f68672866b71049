package sparkrules.value

import java.util.LinkedHashMap

import scala.jdk.CollectionConverters._

/** Entries in the order of their last use, so that those unused for the longest time are dropped first. */
final class LruCache[K, V] {
  private val entries = new LinkedHashMap[K, V](16, 0.75f, true)

  def size: Int = synchronized(entries.size)

  def get(key: K): Option[V] = synchronized(Option(entries.get(key)))

  def getOrElseUpdate(key: K)(make: => V): V = synchronized(entries.computeIfAbsent(key, _ => make))

  def put(key: K, value: V): Unit = synchronized { entries.put(key, value); () }

  /** Drops these entries and returns their values. */
  def removeIf(isUnwanted: (K, V) => Boolean): Seq[V] = synchronized {
    val unwanted = entries.asScala.toSeq.filter { case (key, value) => isUnwanted(key, value) }
    unwanted.map { case (key, value) => entries.remove(key); value }
  }

  /** Keeps at most so many entries. Returns the dropped values. */
  def trim(most: Int): Seq[V] = trim((_, _) => true)(_.size > most)

  /** Drops idle entries while all entries together are too large. Returns the dropped values. */
  def trim(isIdle: (K, V) => Boolean)(areTooLarge: Iterable[V] => Boolean): Seq[V] = synchronized {
    val idle = entries.asScala.toSeq.filter { case (key, value) => isIdle(key, value) }
    idle.iterator.takeWhile(_ => areTooLarge(entries.values.asScala)).map { case (key, value) =>
      entries.remove(key)
      value
    }.toSeq
  }
}
