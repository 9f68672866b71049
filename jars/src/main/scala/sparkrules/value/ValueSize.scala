package sparkrules.value

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{UnsafeArrayData, UnsafeMapData}
import org.apache.spark.sql.catalyst.util.{ArrayData, MapData}
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.{UTF8String, VariantVal}

/** The size of a value if it were written out with the names of its fields, as JSON does. */
object ValueSize {

  /** Whether values of a type can be of any size. */
  def isOpen(dataType: DataType): Boolean = dataType match {
    case _: StringType | BinaryType | VariantType | _: ArrayType | _: MapType | _: StructType => true
    case _: NumericType | BooleanType | DateType | TimestampType | TimestampNTZType | NullType => false
    case CalendarIntervalType | _: DayTimeIntervalType | _: YearMonthIntervalType => false
    case _ => true
  }

  /** The size in bytes. Stops measuring at `most`. */
  def of(value: Any, dataType: DataType, most: Long): Long = (value, dataType) match {
    case (null, _) => 1
    case (text: UTF8String, _) => text.numBytes
    case (bytes: Array[Byte], _) => bytes.length
    case (variant: VariantVal, _) => variant.getValue.length.toLong + variant.getMetadata.length
    case (array: UnsafeArrayData, ArrayType(element, _)) if !hasNames(element) => array.getSizeInBytes
    case (map: UnsafeMapData, MapType(key, item, _)) if !hasNames(key) && !hasNames(item) => map.getSizeInBytes
    case (array: ArrayData, ArrayType(element, _)) => ofElements(array, element, most)
    case (map: MapData, MapType(key, item, _)) =>
      ofElements(map.keyArray(), key, most) + ofElements(map.valueArray(), item, most)
    case (row: InternalRow, struct: StructType) =>
      var size = Overhead
      var i = 0
      while (i < struct.length && size < most) {
        val own = struct(i).dataType
        size += struct(i).name.length
        size += (if (row.isNullAt(i)) 1 else if (isOpen(own)) of(row.get(i, own), own, most - size) else Fixed)
        i += 1
      }
      size
    case _ => Fixed
  }

  private def ofElements(array: ArrayData, element: DataType, most: Long): Long =
    if (!isOpen(element)) Fixed * array.numElements()
    else {
      var size = Overhead * array.numElements()
      var i = 0
      while (i < array.numElements() && size < most) {
        if (!array.isNullAt(i)) size += of(array.get(i, element), element, most - size)
        i += 1
      }
      size
    }

  private def hasNames(dataType: DataType): Boolean = dataType match {
    case _: StructType => true
    case ArrayType(element, _) => hasNames(element)
    case MapType(key, item, _) => hasNames(key) || hasNames(item)
    case _ => false
  }

  private val Fixed = 8L
  // A Java object and the reference to it.
  private val Overhead = 48L
}
