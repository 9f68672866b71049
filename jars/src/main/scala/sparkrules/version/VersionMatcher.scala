package sparkrules.version

import java.util.Arrays

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Expression, UnsafeArrayData}
import org.apache.spark.sql.vectorized.ColumnarBatch
import org.apache.spark.unsafe.types.UTF8String

import sparkrules.kernel.Runner
import sparkrules.program.{Hidden, IdBuffer}
import sparkrules.value.SmallInts

/**
 * Matches rows against all parts of a version, one for each task. What matches a row is numbered by its position: after
 * `sort()`, from 0 in the order in which it is reported.
 *
 * @param inputs those of the parts' programs, one part after the other
 */
final class VersionMatcher(val rules: PinnedRules, inputs: Seq[Expression], instant: Option[Long]) {
  private val layout = rules.layout
  private val top = rules.description.top.getOrElse(Int.MaxValue)

  val parts: Array[Runner] = {
    val starts = rules.parts.scanLeft(0)(_ + _.inputs)
    rules.parts.indices.map { p =>
      val program = rules.parts(p).program
      val removed = if (layout.isEmpty) Array.empty[Int] else layout.get.removed(p)
      val hidden = Hidden.of(program.subscriptions, program.validity, removed, instant)
      new Runner(program, inputs.slice(starts(p), starts(p + 1)), hidden, top)
    }.toArray
  }
  private val only: Runner = if (parts.length == 1) parts(0) else null
  private val order: Order = if (only == null) layout.get.order else null
  private val ids = parts.map(_.program.ids)

  // Several parts: what matches the last row, in order. A number of the main part, or -1 less that of another's among
  // all that are not of it: so that the main part's, which are most, are copied.
  private var found = new Array[Int](16)
  private var keys = new Array[Long](16)
  private var isSorted = false

  /** How many match the last row. */
  var count = 0

  def errors: Long = parts.map(_.errors).sum
  def tests: Long = parts.map(_.tests).sum
  def candidates: Long = parts.map(_.candidates).sum

  /** To be called before the rows of a batch are run. */
  def startBatch(batch: ColumnarBatch): Unit = parts.foreach(_.startBatch(batch))

  /** How many rows must be announced before they are run: some rules are evaluated for all of them at once. */
  val chunk: Int = parts.map(_.chunk).max

  /** To be called, if there are chunks, before these rows are run one after the other. */
  def startChunk(rows: Int, at: Int => InternalRow): Unit =
    parts.foreach(part => if (part.chunk > 0) part.startChunk(rows, at))

  def run(row: InternalRow): Unit =
    if (only != null) {
      only.run(row)
      count = only.count
    } else {
      isSorted = false
      count = 0
      var p = 0
      while (p < parts.length) {
        parts(p).run(row)
        count += parts(p).count
        p += 1
      }
      if (count > top) {
        sort()
        count = top
      }
    }

  /** Puts what matches in the order in which it is reported. */
  def sort(): Unit =
    if (only != null) only.sort()
    else if (!isSorted) {
      isSorted = true
      merge()
    }

  /** The largest part's are sorted by themselves; the others, which are few, together. */
  private def merge(): Unit = {
    val main = parts(order.main)
    if (found.length < count) found = new Array[Int](2 * count)
    if (keys.length < count - main.count) keys = new Array[Long](2 * (count - main.count))
    var others = 0
    var p = 0
    while (p < parts.length) {
      if (p != order.main) {
        val part = parts(p)
        var i = 0
        while (i < part.count) { keys(others) = order.key(p, part.matched(i)); others += 1; i += 1 }
      }
      p += 1
    }
    if (others > 1) Arrays.sort(keys, 0, others)
    main.sort()
    var (i, j) = (0, 0)
    while (j < others) {
      val before = SmallInts.firstFrom(main.matched, i, main.count, Order.placeOf(keys(j)))
      System.arraycopy(main.matched, i, found, i + j, before - i)
      i = before
      found(i + j) = -1 - Order.otherOf(keys(j))
      j += 1
    }
    System.arraycopy(main.matched, i, found, i + j, main.count - i)
  }

  def part(position: Int): Int = if (only != null) 0 else order.part(found(position))

  /** The number of what matches in the program of its part. */
  def number(position: Int): Int = if (only != null) only.matched(position) else order.subscription(found(position))

  def id(position: Int): UTF8String = ids(part(position))(number(position))

  def priority(position: Int): Int = parts(part(position)).program.priorities(number(position))

  /** The ids of all that matches, in order. */
  def idArray(buffer: IdBuffer): UnsafeArrayData =
    if (only != null) ids(0).array(only.matched, count, buffer) else IdsOfParts.array(ids, order, found, count, buffer)

  /** The ids at these positions. */
  def idArray(positions: Array[Int], buffer: IdBuffer): UnsafeArrayData =
    if (only != null) ids(0).array(positions.map(only.matched(_)), positions.length, buffer)
    else IdsOfParts.array(ids, order, positions.map(found(_)), positions.length, buffer)

  /** Adds the matches of the last row to those of each part's subscriptions. */
  def countInto(counts: Array[Array[Long]]): Unit =
    if (only == null && count == top) {
      sort()
      (0 until count).foreach(i => counts(part(i))(number(i)) += 1)
    } else {
      var p = 0
      while (p < parts.length) {
        val (part, own) = (parts(p), counts(p))
        var i = 0
        while (i < part.count) { own(part.matched(i)) += 1; i += 1 }
        p += 1
      }
    }

  /** Where a part's subscription stands in the order of all. */
  def place(part: Int, subscription: Int): Long =
    if (only != null) subscription.toLong else order.key(part, subscription)
}
