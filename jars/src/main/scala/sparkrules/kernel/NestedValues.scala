package sparkrules.kernel

import scala.collection.mutable

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{BoundReference, Expression, GetStructField, UnaryExpression}
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenFallback
import org.apache.spark.sql.types.{DataType, StructType}
import org.apache.spark.sql.vectorized.{ColumnarArray, ColumnarBatchRow, ColumnarMap, ColumnarRow}

import sparkrules.value.NestedType

/**
 * Makes the arrays, maps and structs of columnar batches readable for Spark's expressions, which Spark itself never
 * evaluates on a batch: `exists` and its kin take a NULL element for 0. Such a value is copied when it is first read,
 * once per row for all expressions of a task. A field of a struct is read where it lies, so only the field is copied,
 * and only if it is an array, map or struct again.
 */
final class NestedValues {
  private val copies = mutable.HashMap.empty[Expression, RowCopy]

  /** The expression, its columns bound to rows that may be those of a batch, so that it reads them correctly. */
  private[kernel] def readable(expression: Expression): Expression = expression match {
    case NestedValues.Place(place) if NestedType.is(place.dataType) =>
      CopiedValue(place, copies.getOrElseUpdate(place.canonicalized, new RowCopy))
    case NestedValues.Place(place) => place
    case other => other.mapChildren(readable)
  }

  /** The rows that are read next are those of another batch. */
  private[kernel] def startBatch(): Unit = copies.values.foreach(_.startBatch())
}

private object NestedValues {

  /** A column, or a field of a struct at such a place. */
  object Place {
    def unapply(expression: Expression): Option[Expression] = expression match {
      case column: BoundReference => Some(column)
      case GetStructField(Place(struct), ordinal, _) => Some(FieldInPlace(struct, ordinal))
      case _ => None
    }
  }
}

/** As `GetStructField`, which in some versions of Spark reads a field of a batch without asking whether it is NULL. */
private final case class FieldInPlace(child: Expression, ordinal: Int) extends UnaryExpression with CodegenFallback {
  @transient private lazy val field = child.dataType.asInstanceOf[StructType](ordinal)
  @transient private lazy val read = InternalRow.getAccessor(field.dataType)

  override def dataType: DataType = field.dataType
  override def nullable: Boolean = child.nullable || field.nullable
  override def eval(row: InternalRow): Any = child.eval(row) match {
    case null => null
    case struct => read(struct.asInstanceOf[InternalRow], ordinal)
  }
  override protected def withNewChildInternal(child: Expression): Expression = copy(child)
}

/** An array, map or struct. If it lies in a batch, a copy. */
private final case class CopiedValue(child: Expression, last: RowCopy) extends UnaryExpression with CodegenFallback {
  override def dataType: DataType = child.dataType
  override def nullable: Boolean = child.nullable
  override def eval(row: InternalRow): Any = last.of(row, child)
  override protected def withNewChildInternal(child: Expression): Expression = copy(child)
}

/** The copy that was made last. Outside of batches there is none: nothing tells there when the row is another. */
private final class RowCopy {
  private var inBatches = false
  private var rowId = -1
  private var value: Any = _

  def startBatch(): Unit = {
    inBatches = true
    rowId = -1
  }

  def of(row: InternalRow, place: Expression): Any = row match {
    case inBatch: ColumnarBatchRow if inBatches =>
      if (inBatch.rowId != rowId) {
        value = copied(place.eval(row))
        rowId = inBatch.rowId
      }
      value
    case _ => copied(place.eval(row))
  }

  private def copied(value: Any): Any = value match {
    case array: ColumnarArray => array.copy()
    case map: ColumnarMap => map.copy()
    case struct: ColumnarRow => struct.copy()
    case other => other
  }
}
