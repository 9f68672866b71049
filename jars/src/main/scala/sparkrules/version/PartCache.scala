package sparkrules.version

import sparkrules.value.LruCache

/** Compiled parts, kept on the driver: the most recently used ones, in so many bytes. */
final class PartCache {
  import PartCache._

  private val entries = new LruCache[PartKey, Entry]

  def size: Int = entries.size

  /** The part that was made before, if it `isValid`, or a new one. Nobody else makes the same part in the meantime. */
  def get(key: PartKey, isValid: VersionPart => Boolean)(make: => VersionPart): VersionPart = {
    val entry = entries.getOrElseUpdate(key)(new Entry)
    try entry.get(isValid)(make)
    finally if (entry.part.isEmpty) entries.removeIf((_, other) => other eq entry) // making it failed
  }

  /** Drops the parts unused for the longest time, but none of `needed`. Returns the dropped parts. */
  def trim(bytes: Long, needed: Set[PartKey]): Seq[VersionPart] =
    entries.trim((key, entry) => entry.part.isDefined && !needed(key)) { all =>
      val made = all.flatMap(_.part)
      made.size > Most || made.iterator.map(_.bytes).sum > bytes
    }.flatMap(_.part)

  /** Drops these parts and returns them. */
  def remove(isUnwanted: PartKey => Boolean): Seq[VersionPart] =
    entries.removeIf((key, _) => isUnwanted(key)).flatMap(_.part)
}

object PartCache {

  // Each version may have a small part of its own, and a broadcast costs more than its bytes.
  private val Most = 64

  private final class Entry {
    @volatile var part: Option[VersionPart] = None

    def get(isValid: VersionPart => Boolean)(make: => VersionPart): VersionPart = synchronized {
      if (!part.exists(isValid)) part = Some(make)
      part.get
    }
  }
}
