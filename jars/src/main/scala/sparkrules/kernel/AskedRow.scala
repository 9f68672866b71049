package sparkrules.kernel

import java.util.Arrays

import scala.util.control.ControlThrowable

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{GenericInternalRow, JoinedRow, LeafExpression}
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenFallback
import org.apache.spark.sql.types.DataType

/** A row with what is known of the results of Python functions for it. */
final class AskedRow(val row: InternalRow, calls: Int) extends JoinedRow(row, AskedRow.NoColumns) {
  private val results = new Array[Any](calls)
  Arrays.fill(results.asInstanceOf[Array[AnyRef]], AskedRow.Open)

  /** Per call: the nanoseconds that it took, if that is known. */
  lazy val nanoseconds = new Array[Long](calls)

  def isOpen(call: Int): Boolean = results(call).asInstanceOf[AnyRef] eq AskedRow.Open

  def result(call: Int): Any = results(call)

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

/** The result of a call for an [[AskedRow]]. */
final case class CallResult(call: Int, dataType: DataType, text: String) extends LeafExpression with CodegenFallback {
  @transient private lazy val open = new OpenCall(call)

  override def nullable: Boolean = true
  override def sql: String = text
  override def toString: String = text
  override def eval(row: InternalRow): Any = {
    val asked = row.asInstanceOf[AskedRow]
    if (asked.isOpen(call)) throw open
    asked.result(call) match {
      case failed: FailedCall => throw failed.reason
      case value => value
    }
  }
}
