package sparkrules.scan

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types.{DoubleType, FloatType, NumericType}

import sparkrules.value.{Codes, Keys}

/**
 * A value that a data source can filter by: a column, a field of one, or the search for a string in one. The source
 * does not compute it, so it never fails.
 *
 * @param value over the columns of the call, as bound references
 * @param keys the constants that any rule compares it with
 * @param counted the share of rows per code, if the rule set has been analysed
 */
final class ScanColumn(val value: Expression, val keys: Keys, counted: Option[Array[Double]]) {

  val isCounted: Boolean = counted.isDefined

  /** The share of rows per code. Without statistics all codes are as likely. */
  val shares: Array[Double] = counted.getOrElse(Array.fill(keys.maxCode + 1)(1.0 / (keys.maxCode + 1)))
  private val below: Array[Double] = {
    val sums = new Array[Double](shares.length + 1)
    var code = 0
    while (code < shares.length) { sums(code + 1) = sums(code) + shares(code); code += 1 }
    sums
  }

  def share(first: Int, last: Int): Double = below(last + 1) - below(first)

  /** The share of rows whose code is in a set. */
  def share(codes: Array[Int]): Double = {
    var (sum, i) = (0.0, 0)
    while (i < codes.length) { sum += share(codes(i), codes(i + 1)); i += 2 }
    sum
  }

  val isSearch: Boolean = ScanColumn.isSearch(value)

  /** Whether a source can filter by this set of codes. */
  def canFilter(codes: Array[Int]): Boolean =
    if (codes.isEmpty) true
    else if (isSearch) codes.sameElements(ScanColumn.Found)
    else !Codes.contains(codes, 0, codes.length, firstNaN) && !isEverything(codes)

  def isEverything(codes: Array[Int]): Boolean =
    codes.length == 2 && codes(0) == Keys.NullCode && codes(1) == keys.maxCode

  /**
   * The code of NaN, or -1 for a type that has none. NaN is greater than all numbers to Spark, but sources leave it out
   * of their statistics: `d > 5` would skip a file with 1.0 and NaN.
   */
  private val firstNaN: Int = keys.dataType match {
    case DoubleType => keys.codeOf(Double.NaN)
    case FloatType => keys.codeOf(Float.NaN)
    case _ => -1
  }

  /**
   * These codes and others, for a predicate of bounded size.
   *
   * @param ranges how many it may have if it is no list of values
   */
  def bounded(codes: Array[Int], ranges: Int): Array[Int] = {
    val isList = codes.indices.by(2).forall(i => codes(i) == codes(i + 1) && codes(i) % 2 == 0)
    widened(codes, if (isList) ScanBounds.Values else ranges)
  }

  /** These codes and others, in at most so many intervals: the gaps with the fewest rows are filled. */
  private def widened(codes: Array[Int], most: Int): Array[Int] =
    if (codes.length <= 2 * most) codes
    else {
      val gaps = (2 until codes.length by 2).sortBy(i => -share(codes(i - 1) + 1, codes(i) - 1)).take(most - 1).sorted
      (codes.head +: gaps.flatMap(i => Seq(codes(i - 1), codes(i))) :+ codes.last).toArray
    }

  /** The predicate that is true for the values with these codes. */
  def condition(codes: Array[Int]): Expression = {
    if (isSearch) value
    else {
      val isNull = codes.nonEmpty && codes.head == Keys.NullCode
      val present = Codes.intersection(codes, Array(1, keys.maxCode))
      val (points, ranges) =
        Codes.pairs(present).toSeq.partition { case (first, last) => first == last && isKey(first) }
      val parts = equal(points.map(p => key(p._1))) ++ ranges.map { case (first, last) => between(first, last) } ++
        Option.when(isNull)(IsNull(value))
      parts.reduceOption(Or).getOrElse(Literal.FalseLiteral)
    }
  }

  private def isKey(code: Int): Boolean = code % 2 == 0 && code > 0
  private def key(code: Int): Any = keys.value(code / 2 - 1)
  private def literal(constant: Any): Literal = Literal(constant, value.dataType)

  private def equal(constants: Seq[Any]): Seq[Expression] = {
    val (zeros, others) = constants.partition(isZero)
    zeros.map(zero => And(GreaterThanOrEqual(value, negativeZero(zero)), LessThanOrEqual(value, literal(zero)))) ++
      (others match {
        case Seq() => None
        case Seq(one) => Some(EqualTo(value, literal(one)))
        case several => Some(In(value, several.map(literal)))
      })
  }

  private def between(first: Int, last: Int): Expression = {
    val lower: Option[Expression] =
      if (first == 1) None
      else if (isKey(first)) Some(GreaterThanOrEqual(value, negativeZero(key(first))))
      else Some(GreaterThan(value, literal(key(first - 1))))
    val upper: Option[Expression] =
      if (last == keys.maxCode) None
      else if (isKey(last)) Some(LessThanOrEqual(value, literal(key(last))))
      else Some(LessThan(value, negativeZero(key(last + 1))))
    (lower ++ upper).reduceOption(And(_, _)).getOrElse(IsNotNull(value))
  }

  // To Spark -0.0 equals 0.0; to the statistics of some sources it is lower.
  private def isZero(constant: Any): Boolean = constant match {
    case d: Double => d == 0.0
    case f: Float => f == 0.0f
    case _ => false
  }

  private def negativeZero(constant: Any): Literal = constant match {
    case d: Double if d == 0.0 => literal(-0.0)
    case f: Float if f == 0.0f => literal(-0.0f)
    case other => literal(other)
  }
}

object ScanColumn {

  /** The codes of a search that has found its string. */
  private val Found = Array(Keys.TrueCode, Keys.TrueCode)

  /** Whether it searches a string for a constant. */
  def isSearch(value: Expression): Boolean = value match {
    case test @ (_: StartsWith | _: EndsWith | _: Contains) => test.children.last.isInstanceOf[Literal]
    case _ => false
  }

  /** Whether sources can filter by it: a column, a field of one, or a column as a wider type, which Spark unwraps. */
  def isColumn(value: Expression): Boolean = value match {
    case Cast(child, to: NumericType, _, _) =>
      isRead(child) && child.dataType.isInstanceOf[NumericType] && Cast.canUpCast(child.dataType, to)
    case other => isRead(other)
  }

  private def isRead(value: Expression): Boolean = value match {
    case _: BoundReference => true
    case GetStructField(child, _, _) => isRead(child)
    case _ => false
  }
}
