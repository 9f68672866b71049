package sparkrules.value

import scala.util.control.NonFatal

import org.apache.spark.sql.catalyst.expressions.{Cast, EmptyRow, EvalMode, Hex, Literal, Unhex}
import org.apache.spark.sql.types.{BinaryType, DataType, StringType}
import org.apache.spark.unsafe.types.UTF8String

/** A key as text, as statistics name it, and back: Spark's own casts, always in the time zone UTC. */
object KeyText {

  def of(value: Any, dataType: DataType): UTF8String = {
    val literal = Literal(value, dataType)
    val text = if (dataType == BinaryType) Hex(literal) else Cast(literal, StringType, Some("UTC"), EvalMode.TRY)
    text.eval(EmptyRow).asInstanceOf[UTF8String]
  }

  /** The value, unless the text is not one of this type: the attribute had another type when it was analysed. */
  def parse(text: String, dataType: DataType): Option[Any] = {
    val literal = Literal(text)
    val value = if (dataType == BinaryType) Unhex(literal) else Cast(literal, dataType, Some("UTC"), EvalMode.TRY)
    try Option(value.eval(EmptyRow))
    catch { case NonFatal(_) => None }
  }
}
