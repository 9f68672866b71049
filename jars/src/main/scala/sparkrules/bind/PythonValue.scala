package sparkrules.bind

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{BoundReference, Expression, UnaryExpression}
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenFallback
import org.apache.spark.sql.types.DataType

/** Where the expression of a slot reads the result of a Python function: an input that not every row has. */
final case class PythonValue(child: Expression) extends UnaryExpression with CodegenFallback {
  override def dataType: DataType = child.dataType
  override def nullable: Boolean = child.nullable
  override def eval(row: InternalRow): Any = child.eval(row)
  override def sql: String = child.sql
  override def toString: String = child.toString
  override protected def withNewChildInternal(child: Expression): PythonValue = copy(child)
}

object PythonValue {

  /** The inputs of a program that are results of Python functions and that this expression may need. */
  def inputs(expression: Expression): Seq[Int] =
    expression.collect { case PythonValue(BoundReference(input, _, _)) => input }.distinct

  /** The result that an expression needs in every row to be computed, if it needs no other. */
  def needed(expression: Expression): Option[Int] = expression match {
    case PythonValue(BoundReference(input, _, _)) => Some(input)
    case unary: UnaryExpression => needed(unary.child)
    case _ => None
  }
}
