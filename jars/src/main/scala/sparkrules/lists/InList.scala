package sparkrules.lists

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenFallback
import org.apache.spark.sql.types.{BinaryType, BooleanType, DataType}
import org.apache.spark.unsafe.types.UTF8String

/** The content of a reference list, as a query has it among the inputs of its rules. */
trait ListContent extends LeafExpression with Unevaluable {
  override def dataType: DataType = BinaryType
  override def nullable: Boolean = false

  /** Asks for one task. */
  def asked(): UTF8String => Boolean
}

/** A list that rules name. What it contains belongs to the query: a changed list compiles nothing. */
final case class ListReference(name: String) extends LeafExpression with Unevaluable {
  override def dataType: DataType = BinaryType
  override def nullable: Boolean = false
  override def sql: String = s"'$name'"
}

/** Whether a string is in a list. */
final case class InList(value: Expression, list: Expression) extends BinaryExpression with CodegenFallback {
  override def left: Expression = value
  override def right: Expression = list
  override def dataType: DataType = BooleanType
  override def nullable: Boolean = value.nullable
  override def sql: String = s"in_list(${list.sql}, ${value.sql})"

  @transient private lazy val ask = list match {
    case content: ListContent => content.asked()
    case other => throw new IllegalStateException(s"${other.sql} is not a list")
  }

  override def eval(row: InternalRow): Any = {
    val text = value.eval(row)
    if (text == null) null else ask(text.asInstanceOf[UTF8String])
  }

  override protected def withNewChildrenInternal(left: Expression, right: Expression): Expression = copy(left, right)
}
