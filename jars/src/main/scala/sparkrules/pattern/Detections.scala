package sparkrules.pattern

import java.time.{Instant, LocalDateTime}

import scala.reflect.classTag

import org.apache.spark.sql.{Encoder, Row}
import org.apache.spark.sql.catalyst.encoders.AgnosticEncoder
import org.apache.spark.sql.catalyst.encoders.AgnosticEncoders._
import org.apache.spark.sql.catalyst.util.DateTimeUtils
import org.apache.spark.sql.types.{DataType, Metadata, TimestampNTZType}

/**
 * Events and detections as rows.
 *
 * @param isLocal whether times are of the type TIMESTAMP_NTZ, and not TIMESTAMP
 */
final case class Detections(isLocal: Boolean) {
  import Detections._

  private def timeEncoder: AgnosticEncoder[_] = if (isLocal) LocalDateTimeEncoder else STRICT_INSTANT_ENCODER

  /** What groups of events are made of, in this order. The names are those of the columns. */
  def events: Encoder[Row] = RowEncoder(Seq(
    field(Time, timeEncoder),
    field(Steps, PrimitiveLongEncoder),
    field(Id, StringEncoder, nullable = true),
    field(Value, StringEncoder, nullable = true),
    field(Until, timeEncoder, nullable = true)))

  def detections: Encoder[Row] = RowEncoder(Seq(
    field("pattern", StringEncoder),
    field("kind", StringEncoder),
    field("key", MapEncoder(classTag[Map[String, String]], StringEncoder, StringEncoder, valueContainsNull = false)),
    field("start", timeEncoder),
    field("end", timeEncoder),
    field("count", PrimitiveLongEncoder),
    field(
      "rows",
      IterableEncoder(
        classTag[Seq[Row]],
        RowEncoder(Seq(
          field("step", PrimitiveIntEncoder),
          field("time", timeEncoder),
          field("id", StringEncoder, nullable = true))),
        containsNull = false,
        lenientSerialization = false))))

  def event(row: Row): Event = new Event(micros(row.get(0)), row.getString(2), row.getLong(1), row.getString(3))

  /** When time ends, if the row tells. */
  def until(row: Row): Option[Long] = Option(row.get(4)).map(micros)

  def row(pattern: Pattern, key: PatternKey, found: Detection): Row = Row(
    pattern.id,
    found.kind,
    pattern.by.zip(key.values).toMap,
    time(found.start),
    time(found.end),
    found.count,
    found.rows.map(own => Row(own.step + 1, time(own.event.time), own.event.id)))

  private def time(micros: Long): Any =
    if (isLocal) DateTimeUtils.microsToLocalDateTime(micros) else DateTimeUtils.microsToInstant(micros)

  private def micros(time: Any): Long =
    if (isLocal) DateTimeUtils.localDateTimeToMicros(time.asInstanceOf[LocalDateTime])
    else DateTimeUtils.instantToMicros(time.asInstanceOf[Instant])
}

object Detections {
  val Key = "key"
  val Time = "time"
  val Steps = "steps"
  val Id = "id"
  val Value = "value"
  val Until = "until"

  def of(time: DataType): Detections = Detections(time == TimestampNTZType)

  private def field(name: String, encoder: AgnosticEncoder[_], nullable: Boolean = false): EncoderField =
    EncoderField(name, encoder, nullable, Metadata.empty)
}
