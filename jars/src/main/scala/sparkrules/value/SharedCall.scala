package sparkrules.value

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Expression, UnaryExpression}
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenFallback
import org.apache.spark.sql.types.DataType

/**
 * An expression that is evaluated more than once for a row, by several slots or within a lambda. A task that knows when
 * a row starts computes it once; here it is computed whenever it is asked for.
 *
 * @param number the same for equal expressions of a program
 */
final case class SharedCall(child: Expression, number: Int) extends UnaryExpression with CodegenFallback {
  override def dataType: DataType = child.dataType
  override def nullable: Boolean = child.nullable
  override def sql: String = child.sql
  override def eval(row: InternalRow): Any = child.eval(row)
  override protected def withNewChildInternal(child: Expression): Expression = copy(child)
}
