package sparkrules.guard

import scala.util.control.NonFatal

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenFallback
import org.apache.spark.sql.catalyst.util.ArrayData
import org.apache.spark.sql.types.DataType
import org.apache.spark.unsafe.types.UTF8String

import sparkrules.value.ValueSize

/** The arguments of a call for one row; None where one is NULL or fails, and the call does no work. */
final class Arguments(call: Expression, row: InternalRow) {
  def apply(i: Int): Option[Any] =
    if (i >= call.children.length) None
    else try Option(call.children(i).eval(row))
    catch { case NonFatal(_) => None }

  def number(i: Int): Option[Long] = apply(i).collect { case n: Number => n.longValue }

  def string(i: Int): Option[UTF8String] = apply(i).collect { case string: UTF8String => string }

  /** The length of a string or bytes, the number of elements of an array. */
  def length(i: Int): Option[Long] = apply(i).collect {
    case string: UTF8String => string.numBytes.toLong
    case bytes: Array[Byte] => bytes.length.toLong
    case array: ArrayData => array.numElements().toLong
  }

  def size(i: Int): Option[Long] = apply(i).map(ValueSize.of(_, call.children(i).dataType, Long.MaxValue))

  def sizes: Long = call.children.indices.flatMap(size(_)).sum
}

object Arguments {

  /** The call with arguments that are computed once, though both a guard and Spark ask for them. */
  def held(call: Expression): Expression = call.withNewChildren(call.children.map {
    case argument @ (_: LeafExpression | _: LambdaFunction) => argument
    case argument => Held(argument)
  })

  /** Starts a new row. */
  def forget(call: Expression): Unit = call.children.foreach {
    case held: Held => held.forget()
    case _ =>
  }
}

/** An argument that is computed once, when it is first asked for. */
final case class Held(child: Expression) extends UnaryExpression with CodegenFallback {
  override def dataType: DataType = child.dataType
  override def nullable: Boolean = child.nullable

  @transient private var isKnown = false
  @transient private var value: Any = _
  @transient private var error: Throwable = _

  def forget(): Unit = isKnown = false

  override def eval(row: InternalRow): Any = {
    if (!isKnown) {
      error = null
      try value = child.eval(row)
      catch { case NonFatal(e) => error = e }
      isKnown = true
    }
    if (error != null) throw error
    value
  }
  override protected def withNewChildInternal(child: Expression): Expression = copy(child)
}
