package sparkrules.guard

import scala.util.control.NonFatal

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Expression, LeafExpression}
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenFallback
import org.apache.spark.sql.types.DataType

/** What cannot be computed: it fails whenever it is asked for, and is not tried again. */
final case class Failing(dataType: DataType, text: String, reason: Throwable)
    extends LeafExpression with CodegenFallback {
  override def nullable: Boolean = true
  override def foldable: Boolean = false
  override def sql: String = text
  override def toString: String = text
  override def eval(row: InternalRow): Any = throw reason
}

object Failing {

  /** In the place of an expression, of which it keeps nothing: it may be too deep to be sent to a task. */
  def of(expression: Expression, reason: Throwable): Failing = {
    val text =
      try expression.sql
      catch { case NonFatal(_) | _: StackOverflowError => "..." }
    Failing(expression.dataType, text, reason)
  }
}
