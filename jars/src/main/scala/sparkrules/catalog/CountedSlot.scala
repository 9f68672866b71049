package sparkrules.catalog

import java.math.BigDecimal

import org.apache.spark.unsafe.types.UTF8String

import sparkrules.store.CountedRange
import sparkrules.value.Keys

/**
 * The counted ranges of a slot, and where constants that the analysis has not seen lie among them. A range that such a
 * constant divides may be on either side. Python has the same (`placed_constants.py`).
 *
 * @param typeName Spark's name of the slot's type
 * @param positions how many codes it has
 */
private final class CountedSlot(typeName: String, val positions: Int, ranges: Seq[CountedRange]) {
  import CountedSlot._

  private val rowsBelow: Array[Long] = {
    val counts = new Array[Long](positions)
    ranges.foreach(range => if (isCode(range.position)) counts(range.position) = range.rows)
    counts.scanLeft(0L)(_ + _)
  }

  /** How many rows lie in a set of codes: pairs of first and last. */
  def rows(codes: Array[Int]): Long = {
    var (sum, i) = (0L, 0)
    while (i < codes.length) { sum += rowsBelow(codes(i + 1) + 1) - rowsBelow(codes(i)); i += 2 }
    sum
  }

  /** Where a predicate is true for certain, and where it may be; None if that cannot be said. */
  def placed(operator: String, constants: Seq[(String, String)]): Option[(Array[Int], Array[Int])] = operator match {
    // Spark need not compute a value that is never NULL to know this, even if computing it would fail.
    case "is null" | "is not null" =>
      val own = if (operator == "is null") Array(0, 0) else Array(1, last)
      if (ranges.exists(_.position < 0)) None else Some((own, own))
    case _ if Truths.contains(operator) =>
      if (typeName == "BOOLEAN") Some((Truths(operator), Truths(operator))) else None
    case _ if Comparisons.contains(operator) =>
      val values = constants.map { case (kind, text) => constant(kind, text) }
      if (values.isEmpty || values.contains(None)) None
      else edges.map(found => codes(operator, values.flatten.map(found.place)))
    case _ => None
  }

  private def last: Int = positions - 1
  private def isCode(position: Int): Boolean = position >= Keys.NullCode && position < positions

  private def codes(operator: String, places: Seq[Place]): (Array[Int], Array[Int]) = {
    val Place(first, end, isExact) = places.head
    operator match {
      case "<" => (interval(1, first - 1), interval(1, if (isExact) first - 1 else end))
      case "<=" => (interval(1, if (isExact) end else first - 1), interval(1, end))
      case ">" => (interval(end + 1, last), interval(if (isExact) end + 1 else first, last))
      case ">=" => (interval(if (isExact) first else end + 1, last), interval(first, last))
      case _ =>
        val certain = points(places.filter(_.isExact))
        val possible = points(places.filter(place => place.first <= place.last))
        operator match {
          case "=" | "<=>" | "in" => (certain, possible)
          case _ =>
            val from = if (operator == "not <=>") Keys.NullCode else 1
            (without(from, possible), without(from, certain))
        }
    }
  }

  private def without(from: Int, excluded: Array[Int]): Array[Int] = {
    val starts = from +: excluded.grouped(2).map(_(1) + 1).toArray
    val ends = excluded.grouped(2).map(_(0) - 1).toArray :+ last
    starts.zip(ends).flatMap { case (start, end) => interval(start, end) }
  }

  /** The ranges with rows, in order; None if their bounds cannot be compared. */
  private lazy val edges: Option[Edges] = {
    val own = ranges.filter(range => range.position > Keys.NullCode && isCode(range.position)).sortBy(_.position)
    val lower = own.map(range => Option(range.lower).map(value))
    val upper = own.map(range => Option(range.upper).map(value))
    if ((lower ++ upper).exists(_.contains(None))) None
    else Some(new Edges(own.map(_.position).toArray, lower.map(_.flatten).toArray, upper.map(_.flatten).toArray))
  }

  private def constant(kind: String, text: String): Option[Value] = kind match {
    case "integer" | "decimal" if isNumber && text.count(_.isDigit) <= MostDigits => value(text)
    case "double" if typeName == "DOUBLE" => value(text)
    case "string" if typeName == "STRING" => value(text)
    case "sql" if typeName == "DATE" => text match {
        case DateLiteral(day) => value(day)
        case _ => None
      }
    case _ => None
  }

  private def isNumber: Boolean = typeName == "DOUBLE" || ExactNumber.matches(typeName)

  private def value(text: String): Option[Value] = typeName match {
    case "DOUBLE" => Some(Double.box(text.toDouble + 0.0)) // -0.0 is 0.0
    case "STRING" => Some(UTF8String.fromString(text))
    case "DATE" => if (Day.matches(text)) Some(UTF8String.fromString(text)) else None
    case ExactNumber(_*) => Some(new BigDecimal(text))
    case _ => None
  }
}

private object CountedSlot {
  private val ExactNumber = raw"TINYINT|SMALLINT|INT|BIGINT|DECIMAL\((?:1?[0-9]|20),\d+\)".r
  private val MostDigits = 15
  private val DateLiteral = raw"(?i)DATE ?'(\d{4}-\d\d-\d\d)'".r
  private val Day = raw"\d{4}-\d\d-\d\d".r
  private val Truths = Map(
    "is true" -> Array(4, 4), "is false" -> Array(2, 2),
    "is not true" -> Array(0, 3, 5, 5), "is not false" -> Array(0, 1, 3, 5))
  private val Comparisons = Set("<", "<=", ">", ">=", "=", "<>", "<=>", "not <=>", "in", "not in")

  /** A value of the slot; all of a slot are of one class, which has Spark's order. */
  private type Value = Comparable[_]

  private def compare(a: Value, b: Value): Int = (a, b) match {
    case (one: UTF8String, other: UTF8String) => one.binaryCompare(other)
    case _ => a.asInstanceOf[Comparable[Any]].compareTo(b)
  }

  /**
   * What lies below `first` is less than a constant, what lies above `last` is greater. If there is a range between,
   * the constant divides it, or is it: then the place is exact.
   */
  private final case class Place(first: Int, last: Int, isExact: Boolean)

  /** Ranges in order. A bound is absent at either end. */
  private final class Edges(positions: Array[Int], lower: Array[Option[Value]], upper: Array[Option[Value]]) {
    def place(value: Value): Place = {
      val start = firstOf(k => !ends(k, upper(k).map(compare(_, value)), -1))
      val end = firstOf(k => ends(k, lower(k).map(compare(_, value)), 1))
      if (start < end) Place(positions(start), positions(start), positions(start) % 2 == 0)
      else {
        // The constant lies where no rows are.
        val first = if (end < positions.length) positions(end) else positions.lastOption.fold(1)(_ + 1)
        Place(first, first - 1, isExact = false)
      }
    }

    /** Whether a range lies wholly on one side: it does not include a bound, but a constant is its own bound. */
    private def ends(k: Int, compared: Option[Int], side: Int): Boolean =
      compared.exists(sign => sign * side > 0 || sign == 0 && positions(k) % 2 == 1)

    private def firstOf(isThere: Int => Boolean): Int = {
      var (low, high) = (0, positions.length)
      while (low < high) {
        val middle = (low + high) >>> 1
        if (isThere(middle)) high = middle else low = middle + 1
      }
      low
    }
  }

  private def interval(first: Int, last: Int): Array[Int] = if (first > last) Array.empty else Array(first, last)

  private def points(places: Seq[Place]): Array[Int] =
    places.map(_.first).distinct.sorted.flatMap(first => Seq(first, first)).toArray
}
