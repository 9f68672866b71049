package sparkrules.metrics

import org.apache.spark.TaskContext
import org.apache.spark.sql.execution.SQLExecution

import sparkrules.version.{RowMatches, VersionMatcher}

/**
 * Counts the matches of each rule in a task, by its number: an array per part, made when a row first matches.
 *
 * @param isTimed whether the time of values is measured, too
 */
final class TaskCounts(matcher: VersionMatcher, isTimed: Boolean = true) {
  private var hits: Array[Array[Long]] = _
  private val spent = matcher.parts.map(part => if (isTimed) part.codes.measure() else Array.emptyLongArray)

  def add(found: RowMatches): Unit = if (found.count > 0) found.countInto(ofRules)

  /** Per part and rule: its matches. */
  def ofRules: Array[Array[Long]] = {
    if (hits == null) hits = matcher.parts.map(part => new Array[Long](part.program.rules.size))
    hits
  }

  /**
   * What is sent to the driver, in terms of classes that every class loader has: the jar may be known only to that of
   * the session. First `partition`, `rows`, `matches`, nanoseconds and the SQL execution; then, per part, pairs of a
   * number and a count: matches by rule, failed values by slot, nanoseconds by slot.
   *
   * @param matching the time to match rows, in nanoseconds
   */
  def sent(partition: Int, rows: Long, matches: Long, matching: Long): Array[Array[Long]] = {
    val inPython = matcher.parts.map(_.codes.spentInPython).sum
    val sums = Array(partition.toLong, rows, matches, matching + inPython, TaskCounts.execution)
    sums +: matcher.parts.indices.toArray.flatMap { p =>
      val found = if (hits == null) Array.emptyLongArray else hits(p)
      Array(found, matcher.parts(p).codes.failures, spent(p)).map(TaskCounts.pairs)
    }
  }
}

object TaskCounts {

  /** How many arrays a part has in what is sent. */
  private[metrics] val PerPart = 3

  private val NoExecution = -1L

  /** That which the current task belongs to. */
  private def execution: Long = {
    val id = Option(TaskContext.get()).flatMap(task => Option(task.getLocalProperty(SQLExecution.EXECUTION_ID_KEY)))
    id.fold(NoExecution)(_.toLong)
  }

  private[metrics] def executionOf(sent: Array[Array[Long]]): Option[Long] = Some(sent(0)(4)).filter(_ != NoExecution)

  private def pairs(counts: Array[Long]): Array[Long] = {
    var n = 0
    counts.foreach(count => if (count != 0) n += 1)
    val result = new Array[Long](2 * n)
    var (i, next) = (0, 0)
    while (i < counts.length) {
      if (counts(i) != 0) {
        result(next) = i
        result(next + 1) = counts(i)
        next += 2
      }
      i += 1
    }
    result
  }
}
