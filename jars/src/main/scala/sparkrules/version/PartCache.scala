package sparkrules.version

import java.util.LinkedHashMap

import scala.jdk.CollectionConverters._

/** Compiled parts, kept on the driver: the most recently used ones, in so many bytes. */
final class PartCache {
  import PartCache._

  private val entries = new LinkedHashMap[PartKey, Entry](16, 0.75f, true)

  /** The part that was made before, if it `isValid`, or a new one. Nobody else makes the same in the meantime. */
  def get(key: PartKey, isValid: VersionPart => Boolean)(make: => VersionPart): VersionPart = {
    val entry = entries.synchronized(entries.computeIfAbsent(key, _ => new Entry))
    try entry.get(isValid)(make)
    finally entries.synchronized(if (entry.part.isEmpty) entries.remove(key, entry)) // it could not be made
  }

  /** Drops what has not been used for the longest time; none of `needed`. Gives what was dropped. */
  def trim(bytes: Long, needed: Set[PartKey]): Seq[VersionPart] = entries.synchronized {
    val made = entries.asScala.toSeq.filter(_._2.part.isDefined)
    val idle = made.map(_._1).filterNot(needed)
    var held = made.flatMap(_._2.part).map(_.bytes).sum
    var count = made.length
    idle.iterator.takeWhile(_ => held > bytes || count > Most).map { key =>
      val dropped = entries.remove(key).part.get
      held -= dropped.bytes
      count -= 1
      dropped
    }.toSeq
  }

  /** Drops these, and gives those that had been made. */
  def remove(unwanted: PartKey => Boolean): Seq[VersionPart] = entries.synchronized {
    entries.keySet.asScala.toSeq.filter(unwanted).flatMap(entries.remove(_).part)
  }

  def size: Int = entries.synchronized(entries.size)
}

object PartCache {

  // Of small parts there may be one for each version, and what a broadcast costs is more than its bytes.
  private val Most = 64

  private final class Entry {
    @volatile var part: Option[VersionPart] = None

    def get(isValid: VersionPart => Boolean)(make: => VersionPart): VersionPart = synchronized {
      if (!part.exists(isValid)) part = Some(make)
      part.get
    }
  }
}
