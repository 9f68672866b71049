package sparkrules.kernel

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{BoundReference, Expression, UnaryExpression}
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenFallback
import org.apache.spark.sql.types.{ArrayType, DataType, MapType, StructType}
import org.apache.spark.sql.vectorized.{ColumnarArray, ColumnarMap, ColumnarRow}

/**
 * An array, map or struct that Spark's expressions can read. In a columnar batch `get` of an element does not look
 * whether it is NULL, and `exists` and its kin do not ask: Spark itself never evaluates an expression on a batch.
 */
final case class Nested(child: Expression) extends UnaryExpression with CodegenFallback {
  override def dataType: DataType = child.dataType
  override def nullable: Boolean = child.nullable
  override def eval(row: InternalRow): Any = Nested.of(child.eval(row))
  override protected def withNewChildInternal(child: Expression): Expression = copy(child)
}

object Nested {

  /** The expression with every nested column below its root made readable. A column alone is read by its reader. */
  def readable(expression: Expression): Expression = expression match {
    case column: BoundReference => column
    case other => other.transformUp { case column: BoundReference if isNested(column.dataType) => Nested(column) }
  }

  def of(value: Any): Any = value match {
    case array: ColumnarArray => array.copy()
    case map: ColumnarMap => map.copy()
    case struct: ColumnarRow => struct.copy()
    case other => other
  }

  private def isNested(dataType: DataType): Boolean = dataType match {
    case _: ArrayType | _: MapType | _: StructType => true
    case _ => false
  }
}
