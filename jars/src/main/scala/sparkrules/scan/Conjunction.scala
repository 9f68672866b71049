package sparkrules.scan

import org.apache.spark.sql.catalyst.expressions.{And, Expression, Literal}

/** A part of a scan filter: each of these columns has one of these codes. Nothing is said of other columns. */
private final class Conjunction(all: Seq[(ScanColumn, Array[Int])]) {
  private val own = all.filterNot { case (column, codes) => column.isEverything(codes) }

  /** The share of rows for which this holds, if columns are independent. */
  def share: Double = own.map { case (column, codes) => column.share(codes) }.product

  def isCounted: Boolean = own.forall(_._1.isCounted)

  /** What is compared. */
  def values: Seq[Expression] = own.map(_._1.value)

  def condition: Expression =
    own.map { case (column, codes) => column.condition(codes) }.reduceOption(And(_, _)).getOrElse(Literal.TrueLiteral)
}
