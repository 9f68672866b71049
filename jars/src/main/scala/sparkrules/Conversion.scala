package sparkrules

import scala.collection.mutable

import org.apache.spark.sql.catalyst.expressions._

/**
 * Converts constants as Spark converted those of an example.
 *
 * @param from the constants that the example was made with
 * @param example the example as analysed: a test with them, perhaps inside casts, on its right-hand side
 * @param decisive what two constants must have in common to be converted alike
 */
final class Conversion(from: Seq[Expression], example: Expression, analysis: Analysis, decisive: Expression => Any) {
  private val templates: Map[Any, (Expression, Expression)] = {
    val converted = example match {
      case In(_, list) => list
      case binary: BinaryExpression => Seq(binary.right)
      case _ => Nil
    }
    from.zip(converted).map { case (original, template) => decisive(original) -> (original, template) }.toMap
  }
  private val known = mutable.HashMap.empty[Expression, Option[Any]]

  /** The values of `constants` in the type of the comparison; None if one of them has none (its cast fails, say). */
  def all(constants: Seq[Expression]): Option[Seq[Any]] = {
    val values = constants.map(c => known.getOrElseUpdate(c, convert(c)))
    if (values.forall(_.isDefined)) Some(values.map(_.get)) else None
  }

  private def convert(constant: Expression): Option[Any] = templates.get(decisive(constant)).flatMap {
    case (original, template) if constant == original || template.exists(_ == original) =>
      val own = template.transform { case e if e == original => constant }
      if (own.foldable) analysis.evaluated(own) else None
    // A literal with the same value and another type: Spark gives texts a collation in this way.
    case (Literal(value, _), Literal(same, _)) if value == same => analysis.evaluated(constant)
    case _ => None
  }
}
