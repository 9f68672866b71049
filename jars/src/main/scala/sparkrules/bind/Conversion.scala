package sparkrules.bind

import scala.collection.mutable

import org.apache.spark.sql.catalyst.expressions._

/**
 * Converts constants as Spark converted those of an example.
 *
 * @param from the constants of the example before it was analysed
 * @param example the analysed example, with its constants on the right-hand side, perhaps inside casts
 * @param decisive what two constants must have in common to be converted alike
 */
final class Conversion(from: Seq[Expression], example: Expression, analysis: Analysis, decisive: Expression => Any) {
  private val converted: Seq[Expression] = example match {
    case In(_, list) => list
    case binary: BinaryExpression => Seq(binary.right)
    case _ => Nil
  }
  private val templates: Map[Any, (Expression, Expression)] =
    from.zip(converted).map { case (original, template) => decisive(original) -> (original, template) }.toMap
  private val known = mutable.HashMap.empty[Expression, Option[Any]]

  /** The values of `constants` in the type of the comparison; None if one has no value, because its cast fails. */
  def values(constants: Seq[Expression]): Option[Seq[Any]] =
    all(constants.map(c => known.getOrElseUpdate(c, convert(c))))

  /** The values of the example's own constants, as Spark has arranged them. */
  def ownValues: Option[Seq[Any]] = all(converted.map(evaluated))

  /** The example with these values as its constants. */
  def test(values: Seq[Any]): Expression = {
    val constants = values.map(Literal(_, converted.head.dataType))
    example match {
      case In(value, _) => In(value, constants)
      case other => other.withNewChildren(other.children.head +: constants)
    }
  }

  private def all(values: Seq[Option[Any]]): Option[Seq[Any]] =
    if (values.nonEmpty && values.forall(_.isDefined)) Some(values.map(_.get)) else None

  private def evaluated(constant: Expression): Option[Any] = constant match {
    case StringRPad(_: Literal, _: Literal, _: Literal) => Some(constant.eval(EmptyRow)) // to the length of a CHAR(n)
    case _ if constant.foldable => analysis.evaluated(constant)
    case _ => None
  }

  private def convert(constant: Expression): Option[Any] = templates.get(decisive(constant)).flatMap {
    case (original, template) if constant == original || template.exists(_ == original) =>
      evaluated(template.transform { case e if e == original => constant })
    // A literal of the same value and another type: Spark has given a string a collation.
    case (Literal(value, _), Literal(same, _)) if value == same => analysis.evaluated(constant)
    case _ => None
  }
}
