package sparkrules.value

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenFallback
import org.apache.spark.sql.types.{BooleanType, DataType, StringType}
import org.apache.spark.unsafe.types.UTF8String

/**
 * Whether an address lies in a network: `cidr_contains('10.0.0.0/8', ip)`. A string that is no address is in no
 * network; NULL if one of the strings is NULL, or the first one no network.
 */
final case class CidrContains(network: Expression, address: Expression)
    extends BinaryExpression with ImplicitCastInputTypes with CodegenFallback {
  override def left: Expression = network
  override def right: Expression = address
  override def inputTypes: Seq[DataType] = Seq(StringType, StringType)
  override def dataType: DataType = BooleanType
  override def nullable: Boolean = true
  override def prettyName: String = "cidr_contains"

  @transient private lazy val constant = Option.when(network.foldable)(rangeOf(network.eval(EmptyRow)))

  private def rangeOf(network: Any): Option[(UTF8String, UTF8String)] =
    Option(network).flatMap(text => Address.network(text.asInstanceOf[UTF8String]))

  override def eval(row: InternalRow): Any = {
    val range = constant.getOrElse(rangeOf(network.eval(row)))
    if (range.isEmpty) null
    else {
      val text = address.eval(row)
      if (text == null) null
      else {
        val key = Address.key(text.asInstanceOf[UTF8String])
        key.compareTo(range.get._1) >= 0 && key.compareTo(range.get._2) <= 0
      }
    }
  }

  override protected def withNewChildrenInternal(left: Expression, right: Expression): Expression =
    copy(left, right)
}

object CidrContains {

  /** A string without its collation, which Spark does not drop by itself. */
  def plain(text: Expression): Expression = text.dataType match {
    case _: StringType if text.dataType != StringType => Cast(text, StringType)
    case _ => text
  }
}

/** The key of an address (see [[Address]]), of which every network is a range. */
final case class AddressKey(child: Expression)
    extends UnaryExpression with ImplicitCastInputTypes with CodegenFallback {
  override def inputTypes: Seq[DataType] = Seq(StringType)
  override def dataType: DataType = StringType
  override def prettyName: String = "address_key"
  override protected def nullSafeEval(text: Any): Any = Address.key(text.asInstanceOf[UTF8String])
  override protected def withNewChildInternal(child: Expression): Expression = copy(child)
}
