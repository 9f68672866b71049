package sparkrules.call

import java.io.StringWriter

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow
import org.apache.spark.sql.catalyst.json.{JacksonGenerator, JSONOptions}
import org.apache.spark.sql.catalyst.util.GenericArrayData
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

/** Rows as JSON, for Python, and back. */
object JsonRow {

  /** How Spark writes values: instants with all their digits, in UTC. */
  val Options: Map[String, String] =
    Map("timestampFormat" -> "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX", "timeZone" -> "UTC", "ignoreNullFields" -> "true")

  def written(row: InternalRow, schema: StructType): JsonNode = {
    val text = new StringWriter
    val generator = new JacksonGenerator(schema, text, new JSONOptions(Options, "UTC", ""))
    generator.write(row)
    generator.flush()
    new ObjectMapper().readTree(text.toString)
  }

  /** The rows of an array of arrays. */
  def rows(json: JsonNode, schema: StructType): Array[InternalRow] =
    json.elements.asScala.map { row =>
      new GenericInternalRow(schema.fields.zipWithIndex.map { case (field, i) => value(row.get(i), field.dataType) })
    }.toArray[InternalRow]

  private def value(json: JsonNode, kind: DataType): Any =
    if (json == null || json.isNull) null
    else kind match {
      case LongType => json.asLong
      case IntegerType => json.asInt
      case BooleanType => json.asBoolean
      case ArrayType(element, _) => new GenericArrayData(json.elements.asScala.map(value(_, element)).toArray[Any])
      case _ => UTF8String.fromString(json.asText)
    }
}
