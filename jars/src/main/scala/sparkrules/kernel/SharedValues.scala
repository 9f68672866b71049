package sparkrules.kernel

import scala.collection.mutable
import scala.util.control.NonFatal

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Expression, UnaryExpression}
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenFallback
import org.apache.spark.sql.types.DataType

import sparkrules.value.SharedCall

/** The values of what slots have in common, computed at most once per row. */
private final class SharedValues(codes: SlotCodes) extends Stamped {
  private val values = mutable.HashMap.empty[Int, RowValue]

  /** The expression, with its common parts remembered for the row. */
  def in(expression: Expression): Expression = expression.transformUp {
    case SharedCall(child, number) => SharedValue(child, values.getOrElseUpdate(number, new RowValue(codes)))
  }

  override def forget(): Unit = values.values.foreach(_.forget())
}

private final case class SharedValue(child: Expression, last: RowValue) extends UnaryExpression with CodegenFallback {
  override def dataType: DataType = child.dataType
  override def nullable: Boolean = child.nullable
  override def eval(row: InternalRow): Any = last.of(row, child)
  override protected def withNewChildInternal(child: Expression): Expression = copy(child)
}

/** The value, or the failure, of the row that asked last. */
private final class RowValue(codes: SlotCodes) {
  private var stamp = 0
  private var value: Any = _
  private var failure: Throwable = _

  def of(row: InternalRow, expression: Expression): Any = {
    if (stamp != codes.stamp) {
      failure = null
      try value = expression.eval(row)
      catch { case NonFatal(e) => failure = e }
      stamp = codes.stamp
    }
    if (failure != null) throw failure
    value
  }

  def forget(): Unit = stamp = 0
}
