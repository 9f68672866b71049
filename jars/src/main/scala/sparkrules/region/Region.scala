package sparkrules.region

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.RowOrdering
import org.apache.spark.sql.catalyst.util.{ArrayData, TypeUtils}
import org.apache.spark.sql.types._

import sparkrules.conf.RulesException

/** The values that a column can have in a region. */
sealed abstract class Region

object Region {

  /** Any value, or NULL. */
  case object Anything extends Region

  /** One of these values, which can be null. */
  final case class Values(values: Array[Any]) extends Region

  /** From `min` to `max`, each null if there is no such bound; also NULL if `nulls`. */
  final case class Between(min: Any, max: Any, nulls: Boolean) extends Region
}

/**
 * How a column of a call describes the values that the column of the rules can have.
 *
 * @param dataType the type of these values
 */
sealed abstract class RegionShape(val dataType: DataType) extends Product with Serializable {

  /** The region that a value of the describing column stands for; none if it contains no values at all. */
  final def read(described: Any): Option[Region] =
    if (described == null) Some(Region.Anything) else readPresent(described)

  protected def readPresent(described: Any): Option[Region]
}

object RegionShape {

  /** The column's own value. */
  final case class OfValue(own: DataType) extends RegionShape(own) {
    protected def readPresent(described: Any): Option[Region] = Some(Region.Values(Array(described)))
  }

  /** Any element of an array. */
  final case class OfArray(element: DataType) extends RegionShape(element) {
    protected def readPresent(described: Any): Option[Region] = {
      val values = described.asInstanceOf[ArrayData].toObjectArray(element)
      if (values.isEmpty) None else Some(Region.Values(values.asInstanceOf[Array[Any]]))
    }
  }

  /** A struct of bounds: the ordinals of its fields, or -1. */
  final case class OfBounds(element: DataType, min: Int, max: Int, nulls: Int) extends RegionShape(element) {
    @transient private lazy val order = TypeUtils.getInterpretedOrdering(element)

    protected def readPresent(described: Any): Option[Region] = {
      val row = described.asInstanceOf[InternalRow]
      def field(i: Int): Any = if (i < 0 || row.isNullAt(i)) null else row.get(i, element)
      val (low, high) = (field(min), field(max))
      // If `nulls` is NULL, it is not known whether there are NULLs.
      val mayBeNull = nulls >= 0 && (row.isNullAt(nulls) || row.getBoolean(nulls))
      if (low == null || high == null || order.compare(low, high) <= 0) Some(Region.Between(low, high, mayBeNull))
      else if (mayBeNull) Some(Region.Values(Array(null)))
      else None
    }
  }

  /** The shape of the column `name` in a call of `function`. A struct of only `min`, `max` and `nulls` has bounds. */
  def of(function: String, name: String, dataType: DataType): RegionShape = dataType match {
    case ArrayType(element, _) => OfArray(element)
    case struct: StructType if isBounds(struct) =>
      def place(field: String): Int = struct.fieldNames.indexWhere(_.equalsIgnoreCase(field))
      val (min, max, nulls) = (place("min"), place("max"), place("nulls"))
      val types = Seq(min, max).filter(_ >= 0).map(struct(_).dataType).filterNot(_ == NullType).distinct
      if (types.length > 1) {
        throw new RulesException(
          s"$function: the bounds of '$name' have different types, min is ${struct(min).dataType.sql} and max " +
            s"is ${struct(max).dataType.sql}. Cast one of them.")
      }
      if (nulls >= 0 && struct(nulls).dataType != BooleanType) {
        throw new RulesException(
          s"$function: the field 'nulls' of '$name' says whether the column may be NULL. Its type is " +
            s"${struct(nulls).dataType.sql}: make it a BOOLEAN, null_count > 0 for example.")
      }
      val element = types.headOption.getOrElse(NullType)
      if (!RowOrdering.isOrderable(element)) {
        throw new RulesException(
          s"$function: '$name' has bounds of type ${element.sql}, which has no order. Give an array of values.")
      }
      OfBounds(element, min, max, nulls)
    case other => OfValue(other)
  }

  /** Whether a struct describes values by bounds. */
  def isBounds(struct: StructType): Boolean = {
    val names = struct.fieldNames.map(_.toLowerCase).toSet
    names.size == struct.length && names.subsetOf(Set("min", "max", "nulls")) && (names("min") || names("max"))
  }

}
