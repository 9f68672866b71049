package sparkrules.answer

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.LeafExpression
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenFallback
import org.apache.spark.sql.catalyst.util.{ArrayData, GenericArrayData}
import org.apache.spark.sql.types.{ArrayType, DataType, StructField, StructType}

/** Arrays of structs, the form of answers that are tables: `inline` makes rows of them. */
object StructArray {

  /** The type: fields that are never NULL, then those that may be. */
  def apply(required: (String, DataType)*)(optional: (String, DataType)*): ArrayType = ArrayType(
    StructType(
      required.map { case (name, of) => StructField(name, of, nullable = false) } ++
        optional.map { case (name, of) => StructField(name, of) }),
    containsNull = false)

  def of(rows: Iterable[InternalRow]): ArrayData = new GenericArrayData(rows.toArray[Any])
}

/** An array of structs that is the same for every row. Not a literal: plans print those, and this may be long. */
final case class ConstantTable(function: String, dataType: ArrayType, rows: ArrayData)
    extends LeafExpression
    with CodegenFallback {
  override def nullable: Boolean = false
  override def prettyName: String = function
  override def toString: String = s"$prettyName(${rows.numElements()})"
  override def eval(input: InternalRow): Any = rows
}
