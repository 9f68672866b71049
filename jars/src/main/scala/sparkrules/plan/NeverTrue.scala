package sparkrules.plan

import scala.util.control.NonFatal

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types.BooleanType

/** Conditions that are false or unknown whatever the row, as far as their constants tell. */
object NeverTrue {

  def apply(condition: Expression): Boolean = condition match {
    case And(left, right) => apply(left) || apply(right)
    case Or(left, right) => apply(left) && apply(right)
    case Literal(value, BooleanType) => value != true
    case constant if constant.references.isEmpty && constant.deterministic =>
      // A condition that fails is not one that drops the row.
      try constant.eval(EmptyRow) != true
      catch { case NonFatal(_) => false }
    case strict: BinaryComparison if !strict.isInstanceOf[EqualNullSafe] => strict.children.exists(isNull)
    case In(value, _) => isNull(value)
    case InSet(value, _) => isNull(value)
    case IsNotNull(value) => isNull(value)
    case _ => false
  }

  /** Whether a condition is never true when a value is NULL. */
  def ifNull(condition: Expression, value: Expression): Boolean = apply(condition.transformDown {
    case e if e.semanticEquals(value) => Literal(null, e.dataType)
  })

  private def isNull(value: Expression): Boolean = value match {
    case Literal(null, _) => true
    case cast: Cast => isNull(cast.child)
    case field: GetStructField => isNull(field.child)
    case _ => false
  }
}
