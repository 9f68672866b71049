package sparkrules.version

import sparkrules.store.Manifest
import sparkrules.value.LruCache

/** What the driver has compiled: the parts that versions are made of, and the versions used last. */
object VersionCache {
  private val parts = new PartCache

  // None of their parts has been dropped.
  private val versions = new LruCache[ProgramKey, CachedVersion]
  private val MostVersions = 32

  /** How many compiled parts are kept. */
  def cachedParts: Int = parts.size

  def version(key: ProgramKey): Option[CachedVersion] = versions.get(key)

  def keep(manifest: Manifest, rules: PinnedRules): Unit = {
    versions.put(rules.key, CachedVersion(manifest, rules))
    versions.trim(MostVersions).foreach(_.rules.free())
  }

  /** The part that was compiled before, if it `isCurrent`, or a new one. */
  def part(key: PartKey, isCurrent: VersionPart => Boolean)(compile: => VersionPart): VersionPart =
    parts.get(key, isCurrent)(compile)

  /** Drops parts until the others fit into so many bytes; those that a query needs now are kept in any case. */
  def trim(bytes: Long, needed: Set[PartKey]): Unit = drop(parts.trim(bytes, needed))

  /** Drops everything that has been compiled of a rule set. */
  def forget(store: String, ruleSet: String): Unit =
    drop(parts.remove(key => key.store == store && key.ruleSet == ruleSet))

  /** Frees parts that are no longer kept, and the versions that have them. */
  private def drop(dropped: Seq[VersionPart]): Unit = if (dropped.nonEmpty) {
    versions.removeIf((_, version) => version.rules.parts.exists(part => dropped.exists(_ eq part)))
      .foreach(_.rules.free())
    dropped.foreach(_.free())
  }
}

final case class CachedVersion(manifest: Manifest, rules: PinnedRules)
