package sparkrules

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Expression, LeafExpression}
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenFallback
import org.apache.spark.sql.types.DataType

/** A constant that cannot be computed: it fails whenever it is asked for, and is not tried again. */
final case class Failing(constant: Expression, reason: Throwable) extends LeafExpression with CodegenFallback {
  override def dataType: DataType = constant.dataType
  override def nullable: Boolean = true
  override def foldable: Boolean = false
  override def sql: String = constant.sql
  override def toString: String = constant.toString
  override def eval(row: InternalRow): Any = throw reason
}
