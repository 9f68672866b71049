package sparkrules.value

import java.util.Arrays

import scala.collection.mutable.ArrayBuffer

/**
 * Sets of codes, as sorted disjoint intervals: pairs of first and last code. A predicate is the set of the codes for
 * which it is true. See [[Keys]] for the codes. The code of NULL is in the set only if the predicate is true for NULL.
 */
object Codes {

  /**
   * @param points the codes of the predicate's constants that are not NULL, in their order
   * @param hasNull whether one of its constants is NULL
   * @param max the attribute's highest code
   */
  def of(operator: String, points: Array[Int], hasNull: Boolean, max: Int): Array[Int] = {
    def only(code: Int): Array[Int] = Array(code, code)
    val none = Array.empty[Int]
    operator match {
      case "is null" => only(Keys.NullCode)
      case "is not null" => interval(1, max)
      case "is true" => only(Keys.TrueCode)
      case "is false" => only(Keys.FalseCode)
      case "is not true" => without(0, max, Array(Keys.TrueCode))
      case "is not false" => without(0, max, Array(Keys.FalseCode))
      case "<=>" => only(if (hasNull) Keys.NullCode else points(0))
      case "not <=>" => without(0, max, Array(if (hasNull) Keys.NullCode else points(0)))
      case "in" => union(points)
      case _ if hasNull => none
      case "not in" => without(1, max, points)
      case "=" => only(points(0))
      case "<>" => without(1, max, points)
      case "<" => interval(1, points(0) - 1)
      case "<=" => interval(1, points(0))
      case ">" => interval(points(0) + 1, max)
      case ">=" => interval(points(0), max)
      case other => throw new IllegalArgumentException(s"'$other' is not a comparison")
    }
  }

  def contains(intervals: Array[Int], from: Int, until: Int, code: Int): Boolean =
    if (until - from == 2) code >= intervals(from) && code <= intervals(from + 1)
    else isAmong(intervals, from, until, code)

  private def isAmong(intervals: Array[Int], from: Int, until: Int, code: Int): Boolean = {
    var low = from >> 1
    var high = (until >> 1) - 1
    while (low <= high) {
      val middle = (low + high) >>> 1
      if (code < intervals(2 * middle)) high = middle - 1
      else if (code > intervals(2 * middle + 1)) low = middle + 1
      else return true
    }
    false
  }

  /** Whether a set, `intervals(from)` until `intervals(until)`, and another have a code in common. */
  def meet(intervals: Array[Int], from: Int, until: Int, other: Array[Int]): Boolean = {
    var i = 0
    while (i < other.length) {
      var low = from >> 1
      var high = until >> 1
      // The first interval that does not end before.
      while (low < high) {
        val middle = (low + high) >>> 1
        if (intervals(2 * middle + 1) < other(i)) low = middle + 1 else high = middle
      }
      if (low < (until >> 1) && intervals(2 * low) <= other(i + 1)) return true
      i += 2
    }
    false
  }

  /** Whether a predicate is the same for all values that are not keys: `=` and IN are false for them, `<>` is true. */
  def ignoresGaps(intervals: Array[Int], max: Int): Boolean = {
    val gaps = pairs(intervals).map { case (first, last) => (last + 1) / 2 - first / 2 }.sum
    gaps == 0 || gaps == (max + 1) / 2
  }

  /** The first and last code of each interval. */
  def pairs(intervals: Array[Int]): Iterator[(Int, Int)] =
    Iterator.range(0, intervals.length, 2).map(i => (intervals(i), intervals(i + 1)))

  /** The codes that are in both sets. */
  def intersection(a: Array[Int], b: Array[Int]): Array[Int] = {
    val common = new Array[Int](a.length + b.length)
    var (i, j, length) = (0, 0, 0)
    while (i < a.length && j < b.length) {
      val first = math.max(a(i), b(j))
      val last = math.min(a(i + 1), b(j + 1))
      if (first <= last) {
        common(length) = first
        common(length + 1) = last
        length += 2
      }
      if (a(i + 1) < b(j + 1)) i += 2 else j += 2
    }
    Arrays.copyOf(common, length)
  }

  /** The codes that are in any of the sets. */
  def union(sets: Seq[Array[Int]]): Array[Int] = {
    val joined = ArrayBuffer.empty[Int]
    sets.flatMap(pairs).sorted.foreach { case (first, last) =>
      if (joined.nonEmpty && first <= joined.last + 1) joined(joined.length - 1) = math.max(joined.last, last)
      else joined ++= Seq(first, last)
    }
    joined.toArray
  }

  /** All other codes from that of NULL on. */
  def complement(intervals: Array[Int], max: Int): Array[Int] = {
    val others = ArrayBuffer.empty[Int]
    var next = Keys.NullCode
    pairs(intervals).foreach { case (first, last) =>
      if (next < first) others ++= Seq(next, first - 1)
      next = last + 1
    }
    if (next <= max) others ++= Seq(next, max)
    others.toArray
  }

  /** All other codes but that of NULL. */
  def others(intervals: Array[Int], max: Int): Array[Int] =
    complement(union(Seq(Array(Keys.NullCode, Keys.NullCode), intervals)), max)

  private def interval(first: Int, last: Int): Array[Int] = if (first > last) Array.empty else Array(first, last)

  private def union(points: Array[Int]): Array[Int] = points.distinct.sorted.flatMap(p => Array(p, p))

  private def without(first: Int, last: Int, points: Array[Int]): Array[Int] = {
    val kept = ArrayBuffer.empty[Int]
    var next = first
    points.distinct.sorted.foreach { point =>
      if (next <= point - 1) kept ++= Seq(next, point - 1)
      next = point + 1
    }
    if (next <= last) kept ++= Seq(next, last)
    kept.toArray
  }
}
