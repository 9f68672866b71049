package sparkrules.kernel

import java.util.Arrays

import scala.util.control.ControlThrowable

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Expression, GenericInternalRow, JoinedRow}
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenFallback
import org.apache.spark.sql.types.DataType

/** A row with what is known of the results of Python functions for it. */
final class AskedRow(val row: InternalRow, calls: Int) extends JoinedRow(row, AskedRow.NoColumns) {
  private val results = new Array[Any](calls)
  Arrays.fill(results.asInstanceOf[Array[AnyRef]], AskedRow.Open)

  /** Per call: the nanoseconds that it took, if that is known. */
  lazy val nanoseconds = new Array[Long](calls)

  private var isOpenNull = false

  def isOpen(call: Int): Boolean = results(call).asInstanceOf[AnyRef] eq AskedRow.Open

  /** Runs `work`, for which calls that have not been made give NULL. */
  private[kernel] def withOpenAsNull[A](work: => A): A = {
    isOpenNull = true
    try work
    finally isOpenNull = false
  }

  /** The result of a call; if it has not been made, NULL where that is allowed. */
  private[kernel] def resultOrOpen(call: CallResult): Any =
    if (!isOpen(call.call)) results(call.call) else if (isOpenNull) null else throw call.open

  /** @param result a value in Spark's internal representation, or a [[FailedCall]] */
  def answer(call: Int, result: Any): Unit = results(call) = result
}

object AskedRow {
  private val NoColumns = new GenericInternalRow(0)
  private object Open
}

/** Why a call has no result. */
final class FailedCall(val reason: Throwable)

/** A value needs the result of a call that has not been made for the row. No error, so `try_` functions let it pass. */
final class OpenCall(val call: Int) extends ControlThrowable

/** The result of a call for an [[AskedRow]]. No `LeafExpression`: generated code gives those no row. */
final case class CallResult(call: Int, dataType: DataType, text: String) extends Expression with CodegenFallback {
  @transient private[kernel] lazy val open = new OpenCall(call)

  override def children: Seq[Expression] = Nil
  override def nullable: Boolean = true
  override def sql: String = text
  override def toString: String = text
  override def eval(row: InternalRow): Any = row.asInstanceOf[AskedRow].resultOrOpen(this) match {
    case failed: FailedCall => throw failed.reason
    case value => value
  }
  override protected def withNewChildrenInternal(newChildren: IndexedSeq[Expression]): CallResult = this
}
