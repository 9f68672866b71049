package sparkrules.scan

import scala.collection.mutable.ArrayBuffer

import org.apache.spark.sql.catalyst.expressions.{And, Expression, Literal, Or}

import sparkrules.value.Keys

/** What each of some columns must be, all at once: one of these codes. */
private final class Needs(all: Seq[(ScanColumn, Array[Int])]) {
  private val own = all.filterNot { case (column, codes) => column.isEverything(codes) }

  /** The share of rows for which this holds, if columns are independent. */
  def share: Double = own.map { case (column, codes) => column.share(codes) }.product

  def isCounted: Boolean = own.forall(_._1.isCounted)

  /** What is compared. */
  def values: Seq[Expression] = own.map(_._1.value)

  def condition: Expression =
    own.map { case (column, codes) => column.condition(codes) }.reduceOption(And(_, _)).getOrElse(Literal.TrueLiteral)
}

/**
 * What a scan filter says for the boxes that one column stands for.
 *
 * @param alternatives exclude each other: each has other codes of that column
 * @param common what all the boxes need of other columns
 */
private final class Disjunct(alternatives: Seq[Needs], common: Needs) {
  def share: Double = alternatives.map(_.share).sum.min(1.0) * common.share
  def isCounted: Boolean = (common +: alternatives).forall(_.isCounted)
  def values: Seq[Expression] = (common +: alternatives).flatMap(_.values).distinct
  def condition: Expression = (alternatives.map(_.condition).reduce(Or(_, _)), common.condition) match {
    case (own, Literal.TrueLiteral) => own
    case (own, others) => And(own, others)
  }
}

private object Disjunct {
  private val MostAlternatives = 32
  private val MostValues = 1000
  private val MostRanges = 32

  // Another column has to leave out this share of the rows to be worth its place.
  private val Worthwhile = 0.8

  /**
   * What a filter says if a column stands for these boxes. Where another column narrows the rows further it is added:
   * `region = 'eu' AND at > ...`, with codes of its own for each value or range of the first.
   */
  def of(columns: IndexedSeq[ScanColumn], column: Int, boxes: IndexedSeq[Box]): Disjunct = {
    val first = columns(column)
    val chosen = bounded(first, Marks.union(first, boxes.map(_.codesOf(column))))
    val ranges = Array.tabulate(chosen.length / 2)(i => Array(chosen(2 * i), chosen(2 * i + 1)))
    val places = boxes.map(box => rangesOf(chosen, box.codesOf(column)))
    val users = new Array[Int](columns.length)
    boxes.foreach(_.columns.foreach(users(_) += 1))
    // Where few boxes need anything of a column it narrows little.
    val others = columns.indices.filter { c =>
      c != column && !columns(c).isSearch && users(c) > (1 - Worthwhile) * boxes.length
    }
    // The column for which it matters most which range of the first a row has.
    val second = others.map { c =>
      val hulls = hullsOf(ranges.length, boxes, places, c, columns(c))
      val apart = ranges.indices.map(r => first.share(ranges(r)) * columns(c).share(hulls(r))).sum
      val together = first.share(chosen) * columns(c).share(Array(hulls.map(_.head).min, hulls.map(_.last).max))
      (if (together > 0) apart / together else 1.0, c, hulls)
    }.minByOption(_._1).filter(_._1 < Worthwhile)
    val alternatives = second match {
      case None => Seq(new Needs(Seq(first -> chosen)))
      case Some((_, other, hulls)) => grouped(hulls).map { group =>
          val isOwn = new Array[Boolean](ranges.length)
          group.foreach(isOwn(_) = true)
          val needed = boxes.indices.filter(b => places(b).exists(isOwn(_))).map(boxes(_))
          new Needs(Seq(
            first -> bounded(first, group.sorted.flatMap(ranges(_))),
            columns(other) -> unionOf(needed, other, columns(other))))
        }
    }
    val common = others.filter(c => users(c) == boxes.length && !second.exists(_._2 == c))
      .map(c => columns(c) -> unionOf(boxes, c, columns(c)))
    // A share that is only a guess is no reason to leave out what may be the column that the data is sorted by.
    val narrowing = common.filter { case (c, own) => !c.isCounted || c.share(own) < Worthwhile }
    // What most rows have is not worth a long list of values beside another column.
    val isUseless = second.isEmpty && narrowing.nonEmpty && first.isCounted && first.share(chosen) >= Worthwhile
    if (isUseless) new Disjunct(Seq(new Needs(narrowing)), new Needs(Nil))
    else new Disjunct(alternatives, new Needs(narrowing))
  }

  private def bounded(column: ScanColumn, codes: Array[Int]): Array[Int] = {
    // One code is not always one value: `x NOT IN (...)` has a range between each two constants.
    val areValues = codes.indices.by(2).forall(i => codes(i) == codes(i + 1) && column.isValue(codes(i)))
    column.widened(codes, if (areValues) MostValues else MostRanges)
  }

  /** The numbers of the ranges that have codes of a set. */
  private def rangesOf(ranges: Array[Int], codes: Array[Int]): Array[Int] = {
    val found = ArrayBuffer.empty[Int]
    codes.indices.by(2).foreach { i =>
      var r = firstEndingAt(ranges, codes(i))
      while (2 * r < ranges.length && ranges(2 * r) <= codes(i + 1)) {
        if (found.isEmpty || found.last != r) found += r
        r += 1
      }
    }
    found.toArray
  }

  private def firstEndingAt(ranges: Array[Int], code: Int): Int = {
    var (low, high) = (0, ranges.length / 2)
    while (low < high) {
      val middle = (low + high) >>> 1
      if (ranges(2 * middle + 1) < code) low = middle + 1 else high = middle
    }
    low
  }

  /** Per range of the first column: from the lowest to the highest code that its boxes need of another column. */
  private def hullsOf(
      ranges: Int, boxes: IndexedSeq[Box], places: IndexedSeq[Array[Int]], other: Int, column: ScanColumn) = {
    val (low, high) = (Array.fill(ranges)(Int.MaxValue), Array.fill(ranges)(-1))
    boxes.indices.foreach { b =>
      val codes = boxes(b).codesOf(other)
      val (first, last) = if (codes == null) (Keys.NullCode, column.keys.maxCode) else (codes.head, codes.last)
      places(b).foreach { r => low(r) = low(r).min(first); high(r) = high(r).max(last) }
    }
    IndexedSeq.tabulate(ranges)(r => Array(low(r), high(r)))
  }

  /** Everything that boxes need of a column. */
  private def unionOf(boxes: IndexedSeq[Box], column: Int, own: ScanColumn): Array[Int] = {
    val everything = Array(Keys.NullCode, own.keys.maxCode)
    if (boxes.exists(_.codesOf(column) == null)) everything
    else {
      val union = bounded(own, Marks.union(own, boxes.map(_.codesOf(column))))
      if (own.canFilter(union)) union else everything
    }
  }

  /** Ranges of the first column that need about the same of the second, together. */
  private def grouped(hulls: IndexedSeq[Array[Int]]): Seq[Array[Int]] = {
    val alike = hulls.indices.groupBy(r => (hulls(r)(0), hulls(r)(1))).toSeq.sortBy(_._1)
    alike.grouped(((alike.length + MostAlternatives - 1) / MostAlternatives).max(1)).map(_.flatMap(_._2).toArray).toSeq
  }
}
