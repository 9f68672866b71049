package sparkrules.version

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.vectorized.ColumnarBatch

import sparkrules.kernel.{NestedValues, RowClock, RowFeed, Runner}

/**
 * Matches rows against all parts of a version, one for each task. The result for a row is always the same object, and
 * valid until the next row is asked for.
 *
 * @param inputs those of the parts' programs, one part after the other
 * @param instant that of the query, in microseconds, if it decides which rules can match
 */
final class VersionMatcher(
    val rules: PinnedRules, inputs: Seq[Expression], instant: Option[Long], clock: RowClock = RowClock.off) {
  private val top = rules.key.top.getOrElse(Int.MaxValue)

  val parts: Array[Runner] = {
    val starts = rules.parts.scanLeft(0)(_ + _.inputs)
    val nested = new NestedValues
    rules.parts.indices.map { p =>
      val own = inputs.slice(starts(p), starts(p + 1))
      new Runner(rules.parts(p).program, own, rules.hidden(p, instant), top, nested)
    }.toArray
  }
  private val order: Order = if (parts.length == 1) null else rules.layout.get.order
  private val isStrict = parts.exists(_.program.rules.areStrict)
  private val feed = new RowFeed(parts, clock)
  private val matches = new RowMatches(parts, order, top)

  /** Since this was made: predicates that were tested, those of them that were true, and values that failed. */
  def tested: Long = parts.map(_.tested).sum
  def passed: Long = parts.map(_.passed).sum
  def errors: Long = parts.map(_.codes.errors).sum

  /**
   * The matches of each row.
   *
   * @param areKept whether a row stays as it is when the next one is asked for
   */
  def rows(input: Iterator[InternalRow], areKept: Boolean = false): Iterator[RowMatches] =
    feed.rows(input, areKept)(matched)

  /**
   * The matches of each row of each batch.
   *
   * @param asRows the rows of a batch whose columns are not to be read by themselves
   */
  def batches(
      input: Iterator[ColumnarBatch], asRows: ColumnarBatch => Option[Iterator[InternalRow]]): Iterator[RowMatches] =
    feed.batches(input, asRows)(matched)

  /** The matches of one row. */
  def row(input: InternalRow): RowMatches = feed.row(input)(matched)

  private val matched: InternalRow => RowMatches = row => {
    if (isStrict) parts.indices.foreach(p => parts(p).errors.requireNone(rules.parts(p).forest))
    matches.start(row)
    matches
  }

  /** The place of a part's rule in the order of all. */
  def place(part: Int, rule: Int): Long = if (order == null) rule.toLong else order.key(part, rule)
}
