package sparkrules.scan

import scala.collection.mutable.ArrayBuffer

import sparkrules.value.Keys

/**
 * The codes of a column that stands for boxes, as ranges, and which of them each box needs.
 *
 * @param codes the ranges, as sorted disjoint intervals
 * @param column that of the ranges
 */
private final class BoxRanges(val codes: Array[Int], boxes: IndexedSeq[Box], column: Int) {

  // Per box: the numbers of its ranges.
  private val places = boxes.map(box => rangesOf(box.codesOf(column)))

  def size: Int = codes.length / 2

  def apply(range: Int): Array[Int] = Array(codes(2 * range), codes(2 * range + 1))

  /** The boxes that need any of these ranges. */
  def boxesOf(ranges: Array[Int]): IndexedSeq[Box] = {
    val isOwn = new Array[Boolean](size)
    ranges.foreach(isOwn(_) = true)
    boxes.indices.filter(b => places(b).exists(isOwn(_))).map(boxes(_))
  }

  /** Per range: from the lowest to the highest code that its boxes need of another column. */
  def hulls(other: Int, column: ScanColumn): IndexedSeq[Array[Int]] = {
    val (low, high) = (Array.fill(size)(Int.MaxValue), Array.fill(size)(-1))
    boxes.indices.foreach { b =>
      val own = boxes(b).codesOf(other)
      val (first, last) = if (own == null) (Keys.NullCode, column.keys.maxCode) else (own.head, own.last)
      places(b).foreach { r => low(r) = low(r).min(first); high(r) = high(r).max(last) }
    }
    IndexedSeq.tabulate(size)(r => Array(low(r), high(r)))
  }

  /** The numbers of the ranges that have codes of a set. */
  private def rangesOf(set: Array[Int]): Array[Int] = {
    val found = ArrayBuffer.empty[Int]
    set.indices.by(2).foreach { i =>
      var r = firstEndingAt(set(i))
      while (r < size && codes(2 * r) <= set(i + 1)) {
        if (found.isEmpty || found.last != r) found += r
        r += 1
      }
    }
    found.toArray
  }

  private def firstEndingAt(code: Int): Int = {
    var (low, high) = (0, size)
    while (low < high) {
      val middle = (low + high) >>> 1
      if (codes(2 * middle + 1) < code) low = middle + 1 else high = middle
    }
    low
  }
}
