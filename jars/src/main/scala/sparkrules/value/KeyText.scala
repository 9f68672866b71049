package sparkrules.value

import scala.util.control.NonFatal

import org.apache.spark.sql.catalyst.expressions.{Cast, EmptyRow, EvalMode, Hex, Literal, Unhex}
import org.apache.spark.sql.types.{BinaryType, DataType, StringType}
import org.apache.spark.unsafe.types.UTF8String

/** Keys as strings, for statistics, and back. Uses Spark's casts, in the time zone UTC. */
object KeyText {

  def of(value: Any, dataType: DataType): UTF8String = {
    val literal = Literal(value, dataType)
    val text = if (dataType == BinaryType) Hex(literal) else Cast(literal, StringType, Some("UTC"), EvalMode.TRY)
    text.eval(EmptyRow).asInstanceOf[UTF8String]
  }

  /** The value; None if the string has no value of this type, because the attribute's type has changed. */
  def parse(text: String, dataType: DataType): Option[Any] = {
    val literal = Literal(text)
    val value = if (dataType == BinaryType) Unhex(literal) else Cast(literal, dataType, Some("UTC"), EvalMode.TRY)
    try Option(value.eval(EmptyRow))
    catch { case NonFatal(_) => None }
  }
}
