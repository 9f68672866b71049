package sparkrules.bind

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types.BooleanType

import sparkrules.value.{Codes, Keys}

/**
 * What Spark's optimizer has made of a predicate: comparisons of one value with constants, joined by AND, OR and NOT.
 * Each comparison is a set of the value's codes, and so is the whole:
 *
 * {{{
 *   ts >= TIMESTAMP'2024-01-01 00:00:00' AND ts < TIMESTAMP'2024-01-02 00:00:00'      ts IS NOT NULL OR NULL
 * }}}
 *
 * @param value the value that is compared
 * @param constants the constants it is compared with, without NULL
 */
final case class RewrittenPredicate(expression: Expression, value: Expression, constants: Array[Any]) {

  /** The codes for which the predicate has this truth value. */
  def codes(truth: Boolean, keys: Keys): Array[Int] = RewrittenPredicate.codes(expression, truth, keys)
}

object RewrittenPredicate {
  private final case class Comparison(value: Expression, operator: String, constants: Seq[Any])

  /** None unless all comparisons are of one value, whose type has keys. */
  def of(expression: Expression): Option[RewrittenPredicate] =
    comparisons(expression).filter(_.nonEmpty).flatMap { all =>
      val value = all.head.value
      val constants = all.flatMap(_.constants).filter(_ != null).toArray
      val isOne = all.forall(_.value.canonicalized == value.canonicalized)
      val hasKeys = constants.isEmpty || Keys.existFor(value.dataType)
      Option.when(isOne && hasKeys)(RewrittenPredicate(expression, value, constants))
    }

  private def comparisons(expression: Expression): Option[Seq[Comparison]] = expression match {
    case And(left, right) => both(left, right)
    case Or(left, right) => both(left, right)
    case Not(child) => comparisons(child)
    case Literal(_, BooleanType) => Some(Nil)
    case other => comparison(other).map(Seq(_))
  }

  private def both(left: Expression, right: Expression): Option[Seq[Comparison]] =
    for (some <- comparisons(left); others <- comparisons(right)) yield some ++ others

  private def codes(expression: Expression, truth: Boolean, keys: Keys): Array[Int] = expression match {
    case And(left, right) => joined(left, right, truth, keys, all = truth)
    case Or(left, right) => joined(left, right, truth, keys, all = !truth)
    case Not(child) => codes(child, !truth, keys)
    case Literal(value, BooleanType) => if (value == truth) Array(Keys.NullCode, keys.maxCode) else Array.empty
    case other =>
      val Comparison(_, operator, constants) = comparison(other).get
      val points = constants.filter(_ != null).map(keys.codeOf).toArray
      Codes.of(if (truth) operator else Opposite(operator), points, points.length < constants.length, keys.maxCode)
  }

  private def joined(left: Expression, right: Expression, truth: Boolean, keys: Keys, all: Boolean): Array[Int] = {
    val sets = Seq(left, right).map(codes(_, truth, keys))
    if (all) Codes.intersection(sets.head, sets.last) else Codes.union(sets)
  }

  private val Opposite = {
    val pairs = Seq(
      "=" -> "<>", "<" -> ">=", "<=" -> ">", "<=>" -> "not <=>", "in" -> "not in", "is null" -> "is not null",
      "is true" -> "is false")
    (pairs ++ pairs.map(_.swap)).toMap
  }
  private val Mirrored = Map("<" -> ">", ">" -> "<", "<=" -> ">=", ">=" -> "<=")

  private def comparison(expression: Expression): Option[Comparison] = expression match {
    case test @ BinaryComparison(value, Literal(constant, _)) if value.references.nonEmpty =>
      Some(Comparison(value, test.symbol, Seq(constant)))
    case test @ BinaryComparison(Literal(constant, _), value) if value.references.nonEmpty =>
      Some(Comparison(value, Mirrored.getOrElse(test.symbol, test.symbol), Seq(constant)))
    case In(value, list) if list.forall(_.isInstanceOf[Literal]) =>
      Some(Comparison(value, "in", list.collect { case Literal(constant, _) => constant }))
    case InSet(value, set) => Some(Comparison(value, "in", set.toSeq))
    case IsNull(value) => Some(Comparison(value, "is null", Nil))
    case IsNotNull(value) => Some(Comparison(value, "is not null", Nil))
    case value: Attribute if value.dataType == BooleanType => Some(Comparison(value, "is true", Nil))
    case _ => None
  }
}
