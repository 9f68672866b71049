package sparkrules.scan

import sparkrules.value.{IntBuffer, Keys}

/**
 * The codes of a column that stands for boxes, as ranges, and which of them each box needs.
 *
 * @param codes the ranges, as sorted disjoint intervals
 * @param column that of the ranges
 */
private final class BoxRanges(val codes: Array[Int], boxes: Boxes, column: Int) {
  private val sets = boxes.setsOf(column)
  // Per set of the column: its place among them.
  private val places = new Array[Int](boxes.columns.length)
  sets.indices.foreach(i => places(sets(i)) = i)
  // Per box: the place of its set of the column.
  private val placeOf: Array[Int] = Array.tabulate(boxes.size)(box => places(boxes.setOf(box, column)))
  private val found = new IntBuffer
  // Per place: the numbers of its ranges.
  private val ranges: Array[Array[Int]] = sets.map(set => rangesOf(boxes.codes(set)))

  def size: Int = codes.length / 2

  def apply(range: Int): Array[Int] = Array(codes(2 * range), codes(2 * range + 1))

  /** Per range: from the lowest to the highest code that its boxes need of another column. */
  def hulls(other: Int, column: ScanColumn): IndexedSeq[Array[Int]] = {
    val (setLow, setHigh) = (Array.fill(sets.length)(Int.MaxValue), Array.fill(sets.length)(-1))
    var box = 0
    while (box < boxes.size) {
      val set = boxes.setOf(box, other)
      val place = placeOf(box)
      if (set < 0) { setLow(place) = Keys.NullCode; setHigh(place) = column.keys.maxCode }
      else {
        val own = boxes.codes(set)
        if (own(0) < setLow(place)) setLow(place) = own(0)
        if (own(own.length - 1) > setHigh(place)) setHigh(place) = own(own.length - 1)
      }
      box += 1
    }
    val (low, high) = (Array.fill(size)(Int.MaxValue), Array.fill(size)(-1))
    ranges.indices.foreach { place =>
      ranges(place).foreach { range =>
        low(range) = low(range).min(setLow(place))
        high(range) = high(range).max(setHigh(place))
      }
    }
    IndexedSeq.tabulate(size)(range => Array(low(range), high(range)))
  }

  /**
   * Per group of ranges: the boxes that need any of them.
   *
   * @param groups disjoint
   */
  def boxesOf(groups: Seq[Array[Int]]): Seq[Boxes] = {
    val group = new Array[Int](size)
    groups.zipWithIndex.foreach { case (own, g) => own.foreach(group(_) = g) }
    val groupsOf = ranges.map(own => own.map(group(_)).distinct)
    val found = groups.map(_ => new IntBuffer).toArray
    var box = 0
    while (box < boxes.size) { groupsOf(placeOf(box)).foreach(found(_) += box); box += 1 }
    found.toSeq.map(own => boxes.only(own.toArray))
  }

  /** The numbers of the ranges that have codes of a set. */
  private def rangesOf(set: Array[Int]): Array[Int] = {
    found.length = 0
    var i = 0
    while (i < set.length) {
      var range = firstEndingAt(set(i))
      while (range < size && codes(2 * range) <= set(i + 1)) {
        if (found.length == 0 || found(found.length - 1) != range) found += range
        range += 1
      }
      i += 2
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
