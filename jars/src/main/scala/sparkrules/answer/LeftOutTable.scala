package sparkrules.answer

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.LeafExpression
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenFallback
import org.apache.spark.sql.catalyst.util.{ArrayData, GenericArrayData}
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

import sparkrules.version.RejectedRule

/** The rules of a set that cannot be used on a table, and why; the same for every row. */
final case class LeftOutTable(rules: ArrayData) extends LeafExpression with CodegenFallback {
  override def dataType: DataType = LeftOutTable.Type
  override def nullable: Boolean = false
  override def prettyName: String = "subscriptions_left_out"
  override def toString: String = s"$prettyName(${rules.numElements()})"
  override def eval(input: InternalRow): Any = rules
}

object LeftOutTable {
  private val Type = ArrayType(
    new StructType().add("subscription_id", StringType, nullable = false).add("reason", StringType, nullable = false),
    containsNull = false)

  def of(rejected: Seq[RejectedRule]): LeftOutTable =
    LeftOutTable(new GenericArrayData(rejected.sortBy(_.id).map { rule =>
      InternalRow(UTF8String.fromString(rule.id), UTF8String.fromString(rule.rejection.reason))
    }.toArray[Any]))
}
