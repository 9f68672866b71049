package sparkrules.plan

import org.apache.spark.sql.catalyst.analysis.UnresolvedAttribute
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.optimizer.NormalizeNaNAndZero
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.util.CollationFactory
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types._

import sparkrules.conf.RulesException
import sparkrules.value.NestedType

/** The columns that patterns name: keys, and what is counted. */
private object PatternColumns {

  /** A column, or a field of one, by its name. */
  def resolved(plan: LogicalPlan, name: String): Option[NamedExpression] =
    plan.resolve(UnresolvedAttribute.parseAttributeName(name), SQLConf.get.resolver)

  /** A value as a text, so that values are equal for GROUP BY if and only if the texts are. */
  def text(e: Expression, whose: => String): Expression = e.dataType match {
    case string: StringType => CollationFactory.fetchCollation(string.collationId) match {
        case collation if collation.supportsBinaryEquality => Cast(e, StringType)
        case _ if string.collationId == CollationFactory.UTF8_LCASE_COLLATION_ID => Cast(CollationKey(e), StringType)
        case _ =>
          throw new RulesException(
            s"$whose is of the type ${string.sql}, by which rows are not grouped. Select it as another column, " +
              "COLLATE UTF8_BINARY or UTF8_LCASE.")
      }
    case FloatType | DoubleType => Cast(NormalizeNaNAndZero(e), StringType)
    case BinaryType => Hex(e) // bytes that are not UTF-8 would not stay what they are
    case other if NestedType.is(other) || !RowOrdering.isOrderable(other) || !Cast.canCast(other, StringType) =>
      throw new RulesException(
        s"$whose is of the type ${other.sql}, by which rows are not grouped. Take a column of a simple type, such as " +
          "a field of it.")
    case _ => Cast(e, StringType, Some("UTC")) // a local time is ambiguous when clocks are put back
  }
}
