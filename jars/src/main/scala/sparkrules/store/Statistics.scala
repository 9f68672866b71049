package sparkrules.store

import sparkrules.value.{IntLists, KeyText, Keys}

/**
 * How the values of attributes are distributed over the ranges between their keys, in the rows that `RuleSet.analyze`
 * has counted. The keys may have changed since then.
 *
 * @param ranges per attribute, as SQL: its ranges and their rows
 * @param rows how many rows were counted
 */
final class Statistics(ranges: Map[String, Seq[CountedRange]], val rows: Int) {

  /** The ranges of an attribute that contain rows. */
  def rangesOf(attribute: String): Seq[CountedRange] = ranges.getOrElse(attribute, Nil)

  /**
   * The share of rows per code of `keys`, among the rows whose value could be computed: the sum is 1. Where new keys
   * divide a range, its rows are split evenly. None if the attribute was not analysed, or had another type.
   */
  def shares(attribute: String, keys: Keys): Option[Array[Double]] = ranges.get(attribute).flatMap { counted =>
    val counts = new Array[Double](keys.maxCode + 1)
    val placed = counted.filter(_.position >= Keys.NullCode).map(range => codesOf(range, keys).map(_ -> range.rows))
    if (placed.isEmpty || placed.exists(_.isEmpty)) None
    else {
      placed.flatten.foreach { case ((first, last), rows) =>
        (first to last).foreach(code => counts(code) += rows.toDouble / (last - first + 1))
      }
      val sum = counts.sum
      if (sum > 0) Some(counts.map(_ / sum)) else None
    }
  }

  /** The first and the last code that the values of a range have now. */
  private def codesOf(range: CountedRange, keys: Keys): Option[(Int, Int)] =
    if (range.position == Keys.NullCode) Some((Keys.NullCode, Keys.NullCode))
    else if (keys.size == 0) Some((1, 1))
    else if (range.lower != null && range.lower == range.upper) codeOf(range.lower, keys).map(code => (code, code))
    else {
      // A range does not include its bounds: if one is a key, the range begins after it.
      val first = if (range.lower == null) Some(1) else codeOf(range.lower, keys).map(code => code + 1 - code % 2)
      val last =
        if (range.upper == null) Some(keys.maxCode) else codeOf(range.upper, keys).map(code => code - 1 + code % 2)
      for (f <- first; l <- last; if f <= l) yield (f, l)
    }

  private def codeOf(text: String, keys: Keys): Option[Int] = KeyText.parse(text, keys.dataType).map(keys.codeOf)
}

/** A range of an attribute. If it is a key, `lower` and `upper` are that key; otherwise its bounds, or null. */
final case class CountedRange(position: Int, lower: String, upper: String, rows: Int)

object Statistics {

  /** The columns of docs/store-format.md. */
  def of(table: ArrowTable): Statistics = {
    val (attributes, positions) = (table.strings("attribute"), table.ints("position"))
    val (lower, upper) = (table.strings("lower"), table.strings("upper"))
    val (rows, totals) = (table.ints("rows"), table.ints("total"))
    val ranges =
      attributes.indices.groupMap(attributes(_))(i => CountedRange(positions(i), lower(i), upper(i), rows(i)))
    new Statistics(ranges, totals.headOption.getOrElse(0))
  }
}

/** The predicates of the analysed rules: the slot of each, and the positions where it is true. */
final class CountedTests(table: ArrowTable) {
  val attributes: Array[String] = table.strings("attribute")
  val operators: Array[String] = table.strings("operator")
  val constants: Array[String] = table.strings("constants")
  val slots: Array[String] = table.strings("slot")
  val types: Array[String] = table.strings("type")
  val positions: Array[Int] = table.ints("positions")
  val first: IntLists = table.lists("first")
  val last: IntLists = table.lists("last")
  def size: Int = positions.length
}
