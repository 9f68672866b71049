package sparkrules.guard

import scala.util.control.NonFatal

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Expression, LeafExpression}
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenFallback
import org.apache.spark.sql.types.DataType

/** An expression that cannot be computed. It always fails with the same error. */
final case class Failing(dataType: DataType, text: String, reason: Throwable)
    extends LeafExpression with CodegenFallback {
  override def nullable: Boolean = true
  override def foldable: Boolean = false
  override def sql: String = text
  override def toString: String = text
  override def eval(row: InternalRow): Any = throw reason
}

object Failing {

  /** Takes the place of an expression, and keeps nothing of it, because it can be too deep for a task. */
  def of(expression: Expression, reason: Throwable): Failing = {
    val text =
      try expression.sql
      catch { case NonFatal(_) | _: StackOverflowError => "..." }
    Failing(expression.dataType, text, reason)
  }
}
