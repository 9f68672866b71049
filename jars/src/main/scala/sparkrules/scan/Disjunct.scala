package sparkrules.scan

import org.apache.spark.sql.catalyst.expressions.{And, Expression, Literal, Or}

import sparkrules.value.Keys

/**
 * What a scan filter says for the boxes that one column stands for.
 *
 * @param alternatives exclude each other: each has other codes of that column
 * @param common what all the boxes need of other columns
 */
private final class Disjunct(alternatives: Seq[Conjunction], common: Conjunction) {
  def share: Double = alternatives.map(_.share).sum.min(1.0) * common.share
  def isCounted: Boolean = (common +: alternatives).forall(_.isCounted)
  def values: Seq[Expression] = (common +: alternatives).flatMap(_.values).distinct
  def condition: Expression = (alternatives.map(_.condition).reduce(Or(_, _)), common.condition) match {
    case (own, Literal.TrueLiteral) => own
    case (own, others) => And(own, others)
  }
}

private object Disjunct {

  // Another column has to leave out this share of the rows to be worth its place.
  private val Worthwhile = 0.8

  /**
   * What a filter says if a column stands for these boxes. Where another column narrows the rows further it is added:
   * `region = 'eu' AND at > ...`, with codes of its own for each value or range of the first.
   *
   * @param most how many alternatives there may be, and ranges of a column; NULL and a list of values come on top
   */
  def of(columns: IndexedSeq[ScanColumn], column: Int, boxes: Boxes, most: Int): Disjunct = {
    val first = columns(column)
    val ranges = new BoxRanges(first.bounded(unionOf(boxes, column, first), most), boxes, column)
    val users = new Array[Int](columns.length)
    boxes.sets.values.foreach(set => users(boxes.columns(set)) += 1)
    // Where few boxes need anything of a column it narrows little.
    val others = columns.indices.filter { c =>
      c != column && !columns(c).isSearch && users(c) > (1 - Worthwhile) * boxes.size
    }
    val second = secondOf(columns, column, ranges, others)
    val common = commonOf(columns, others.filter(c => users(c) == boxes.size && !second.exists(_._1 == c)), boxes, most)
    // What most rows have is not worth a long list of values beside another column.
    val isUseless = second.isEmpty && common.nonEmpty && first.isCounted && first.share(ranges.codes) >= Worthwhile
    if (isUseless) new Disjunct(Seq(new Conjunction(common)), new Conjunction(Nil))
    else {
      val alternatives = second match {
        case None => Seq(new Conjunction(Seq(first -> ranges.codes)))
        case Some((other, hulls)) => alternativesOf(columns, column, ranges, other, hulls, most)
      }
      new Disjunct(alternatives, new Conjunction(common))
    }
  }

  /** The column for which it matters most which range of the first a row has, if it matters, and its hulls. */
  private def secondOf(
      columns: IndexedSeq[ScanColumn],
      column: Int,
      ranges: BoxRanges,
      others: Seq[Int]): Option[(Int, IndexedSeq[Array[Int]])] =
    others.map { c =>
      val hulls = ranges.hulls(c, columns(c))
      val apart = hulls.indices.map(r => columns(column).share(ranges(r)) * columns(c).share(hulls(r))).sum
      val hull = Array(hulls.map(_.head).min, hulls.map(_.last).max)
      val together = columns(column).share(ranges.codes) * columns(c).share(hull)
      (if (together > 0) apart / together else 1.0, c, hulls)
    }.minByOption(_._1).collect { case (ratio, c, hulls) if ratio < Worthwhile => (c, hulls) }

  /** Ranges of the first column, each with what its boxes need of the second. */
  private def alternativesOf(
      columns: IndexedSeq[ScanColumn],
      column: Int,
      ranges: BoxRanges,
      other: Int,
      hulls: IndexedSeq[Array[Int]],
      most: Int): Seq[Conjunction] = {
    val groups = grouped(hulls, most)
    groups.zip(ranges.boxesOf(groups)).map { case (group, boxes) =>
      new Conjunction(Seq(
        columns(column) -> columns(column).bounded(group.sorted.flatMap(ranges(_)), most),
        columns(other) -> neededOf(boxes, other, columns(other), most)))
    }
  }

  /** Of columns that all boxes need something of, what they need, where that narrows. */
  private def commonOf(
      columns: IndexedSeq[ScanColumn], needed: Seq[Int], boxes: Boxes, most: Int): Seq[(ScanColumn, Array[Int])] =
    needed.map(c => columns(c) -> neededOf(boxes, c, columns(c), most)).filter { case (column, codes) =>
      // A share that is only a guess is no reason to leave out what may be the column that the data is sorted by.
      !column.isCounted || column.share(codes) < Worthwhile
    }

  /** The codes that boxes need of a column: all of them, if some boxes need nothing of it. */
  private def neededOf(boxes: Boxes, column: Int, own: ScanColumn, most: Int): Array[Int] = {
    val everything = Array(Keys.NullCode, own.keys.maxCode)
    if ((0 until boxes.size).exists(boxes.setOf(_, column) < 0)) everything
    else {
      val needed = own.bounded(unionOf(boxes, column, own), most)
      if (own.canFilter(needed)) needed else everything
    }
  }

  private def unionOf(boxes: Boxes, column: Int, own: ScanColumn): Array[Int] =
    Marks.union(own, boxes.setsOf(column).map(boxes.codes(_)))

  /** Ranges of the first column that need about the same of the second, together. */
  private def grouped(hulls: IndexedSeq[Array[Int]], most: Int): Seq[Array[Int]] = {
    val alike = hulls.indices.groupBy(r => (hulls(r)(0), hulls(r)(1))).toSeq.sortBy(_._1)
    alike.grouped(((alike.length + most - 1) / most).max(1)).map(_.flatMap(_._2).toArray).toSeq
  }
}
