package sparkrules.label

import org.apache.spark.unsafe.types.UTF8String

import sparkrules.conf.{Listed, RulesException}
import sparkrules.store.{Store, Version}
import sparkrules.value.LruCache

/** The tags that the rules of a version have. */
object KnownTags {
  private val known = new LruCache[Version, Set[String]]
  private val Most = 32
  private val Shown = 20

  /** Fails if no rule of the version has one of the tags, unless the version has no rules. */
  def check(store: Store, version: Version, wanted: Set[String]): Unit = {
    val tags = of(store, version)
    wanted.toSeq.sorted.find(!tags(_)).foreach { tag =>
      if (store.manifest(version).subscriptions > 0) {
        val others = if (tags.isEmpty) "No rule has tags." else s"There are: ${Listed(tags.toSeq.sorted, Shown)}."
        throw new RulesException(s"No rule of $version has the tag '$tag'. $others")
      }
    }
  }

  private def of(store: Store, version: Version): Set[String] = known.get(version).getOrElse {
    val found = store.manifest(version).segments.flatMap { entry =>
      val marks = store.marks(version.ruleSet, entry)
      val isRemoved = new java.util.BitSet
      store.removed(version.ruleSet, entry, entry.subscriptions).foreach(isRemoved.set)
      val tags = Iterator.range(0, entry.subscriptions).filterNot(isRemoved.get).flatMap(marks.tagsOf(_))
      if (marks.isEmpty) Set.empty[UTF8String] else tags.toSet
    }.map(_.toString).toSet
    known.put(version, found)
    known.trim(Most)
    found
  }
}
