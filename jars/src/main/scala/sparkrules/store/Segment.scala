package sparkrules.store

import org.apache.spark.unsafe.types.UTF8String

/**
 * A part of a published rule set as it lies in the store (docs/store-format.md): strings and numbers, not bound to a
 * table yet.
 *
 * @param functions the names of the functions that the rules call
 */
final class Segment(val forest: StoredForest, val rules: StoredRules, val functions: Array[String]) {

  /** The same segment, except that each of these rules is a single predicate: its whole text. */
  def withWholeTexts(whole: Seq[Int]): Segment = {
    val roots = rules.nodes.clone()
    whole.indices.foreach(i => roots(whole(i)) = forest.nodes.size + i)
    new Segment(forest.withConditions(whole.map(rules.texts(_))), rules.at(roots), functions)
  }
}

object Segment {

  /** Segments one after the other, their numbers shifted. */
  def concatenated(segments: Seq[Segment]): Segment = segments match {
    case Seq(one) => one
    case _ =>
      val starts = segments.scanLeft(0)(_ + _.forest.nodes.size)
      new Segment(
        StoredForest.concatenated(segments.map(_.forest)),
        StoredRules.concatenated(segments.map(_.rules), starts),
        segments.flatMap(_.functions).distinct.toArray)
  }
}

/**
 * The rules of a segment.
 *
 * @param nodes per rule: its node in the forest
 * @param read reads the texts of the rules, as Spark SQL
 * @param validFrom per rule: the first microsecond at which it can match, or [[ArrowTable.NoInstant]]
 * @param validUntil per rule: the first at which it no longer can, or [[ArrowTable.NoInstant]]
 */
final class StoredRules(
    val ids: Array[UTF8String],
    val nodes: Array[Int],
    val priorities: Array[Int],
    val validFrom: Array[Long],
    val validUntil: Array[Long])(read: => Array[String]) {
  def size: Int = ids.length

  /** The rules as Spark SQL, read only when they are asked for: they are most of what a segment takes up. */
  lazy val texts: Array[String] = read

  /** The same rules, at other nodes. */
  def at(others: Array[Int]): StoredRules = new StoredRules(ids, others, priorities, validFrom, validUntil)(texts)
}

object StoredRules {

  /** @param starts where the nodes of each begin */
  def concatenated(all: Seq[StoredRules], starts: Seq[Int]): StoredRules = new StoredRules(
    all.flatMap(_.ids).toArray,
    all.zip(starts).flatMap { case (rules, start) => rules.nodes.map(_ + start) }.toArray,
    all.flatMap(_.priorities).toArray,
    all.flatMap(_.validFrom).toArray,
    all.flatMap(_.validUntil).toArray)(all.flatMap(_.texts).toArray)
}

/**
 * The status and the tags of the rules of a segment. Most segments have neither.
 *
 * @param statuses per rule: null if it is live; null if all are
 * @param tags per rule: null if it has none; null if no rule has any
 */
final class RuleMarks private (statuses: Array[String], tags: Array[Array[UTF8String]]) {
  def isEmpty: Boolean = statuses == null && tags == null

  def status(row: Int): String =
    if (statuses == null || statuses(row) == null) RuleMarks.Live else statuses(row)

  def tagsOf(row: Int): Array[UTF8String] = if (tags == null || tags(row) == null) RuleMarks.NoTags else tags(row)

  def hasAny(row: Int, wanted: Set[UTF8String]): Boolean = tagsOf(row).exists(wanted)
}

object RuleMarks {
  private val Live = "live"
  private val Others = Set("shadow", "draft")
  private val NoTags = Array.empty[UTF8String]

  def of(rules: ArrowTable): RuleMarks = {
    val statuses = if (rules.has("status")) rules.strings("status") else null
    Option(statuses).flatMap(_.find(status => status != null && !Others(status))).foreach { status =>
      throw new IllegalArgumentException(s"unknown status '$status'")
    }
    new RuleMarks(statuses, if (rules.has("tags")) rules.textLists("tags") else null)
  }
}
