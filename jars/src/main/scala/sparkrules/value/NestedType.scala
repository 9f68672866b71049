package sparkrules.value

import org.apache.spark.sql.types.{ArrayType, DataType, MapType, StructType, UserDefinedType}

/** Types of values that have parts: arrays, maps and structs. */
object NestedType {
  def is(dataType: DataType): Boolean = dataType match {
    case _: ArrayType | _: MapType | _: StructType => true
    case own: UserDefinedType[_] => is(own.sqlType)
    case _ => false
  }
}
