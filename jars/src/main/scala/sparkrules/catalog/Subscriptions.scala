package sparkrules.catalog

import scala.collection.mutable.ArrayBuffer

import org.apache.hadoop.fs.Path

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.util.GenericArrayData
import org.apache.spark.sql.connector.read.InputPartition
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

import sparkrules.store.{Chunk, Manifest, OpenFiles, SegmentEntry, Slice, Store, StoredColumn}

/** The subscriptions of a version, without those that were removed. */
final case class Subscriptions(store: String, ruleSet: String, number: Long)
    extends StoredTable("subscriptions", Subscriptions.Columns) {
  import Subscriptions._

  override def rowCount(store: Store): Option[Long] = Some(manifest(store).subscriptions)
  override def files(store: Store): Seq[Path] =
    manifest(store).segments.map(entry => store.pathOf(ruleSet, entry.file("subscriptions")))
  override def parts(store: Store): Seq[InputPartition] = spread(manifest(store).segments)

  override def rows(files: OpenFiles, part: InputPartition, columns: Seq[String]): Iterator[InternalRow] =
    part.asInstanceOf[Spans].spans.iterator.flatMap { span =>
      val entry = span.segment
      val segment = UTF8String.fromString(entry.name)
      val stored = columns.flatMap(Stored.get)
      def slice(column: String): Chunk => Slice = {
        val i = stored.indexOf(Stored(column))
        _.columns(i)
      }
      val values = columns.map[(Chunk, Int) => Any] {
        case "segment" => (_, _) => segment
        case "has_ticket" =>
          val ticket = slice("has_ticket")
          (chunk, row) => !ticket(chunk).isNull(row)
        case "status" =>
          val status = slice("status")
          (chunk, row) => Option(status(chunk).value(row)).getOrElse(Live)
        case "tags" =>
          val tags = slice("tags")
          (chunk, row) => Option(tags(chunk).value(row)).getOrElse(NoTags)
        case column =>
          val value = slice(column)
          (chunk, row) => value(chunk).value(row)
      }
      val chunks =
        files.chunks(ruleSet, entry.file("subscriptions"), stored, span.from, span.until, entry.subscriptions)
      OpenFiles.rows(chunks, files.store.removed(ruleSet, entry, entry.subscriptions), values)
    }

  private def manifest(store: Store): Manifest = Manifest.read(store, ruleSet, number)
}

object Subscriptions {
  val Columns: Seq[ColumnOf] = Seq(
    ColumnOf("id", StringType, "id of the subscription"),
    ColumnOf("where", StringType, "its text, as it was written"),
    ColumnOf("sql", StringType, "the text as Spark SQL, if it was not written as such"),
    ColumnOf("priority", IntegerType, "higher ones come first"),
    ColumnOf("metadata", StringType, "JSON that belongs to it"),
    ColumnOf("valid_from", TimestampType, "when it begins to match; NULL: always did"),
    ColumnOf("valid_until", TimestampType, "when it no longer matches; NULL: never"),
    ColumnOf("has_ticket", BooleanType, "whether removing it takes its owner's ticket", nullable = false),
    ColumnOf("status", StringType, "live, shadow or draft", nullable = false),
    ColumnOf("tags", ArrayType(StringType, containsNull = false), "names by which queries choose", nullable = false),
    ColumnOf("exemptions", StringType, "JSON: where it does not match although it is true; NULL: none"),
    ColumnOf("segment", StringType, "the segment of the store where it lies", nullable = false))

  /** The stored columns of the table's columns; the segment has none. */
  private val Stored: Map[String, StoredColumn] = Columns.filter(_.name != "segment").map {
    case ColumnOf("has_ticket", _, _, _) => "has_ticket" -> StoredColumn("ticket", StringType)
    case ColumnOf(name @ ("status" | "tags" | "exemptions"), dataType, _, _) =>
      name -> StoredColumn(name, dataType, isOptional = true)
    case column => column.name -> StoredColumn(column.name, column.dataType)
  }.toMap

  private val Live = UTF8String.fromString("live")
  private val NoTags = new GenericArrayData(Array.empty[Any])

  // A million subscriptions are ten tasks.
  private val RowsOfTask = 100000

  final case class Span(segment: SegmentEntry, from: Int, until: Int)
  final case class Spans(spans: Seq[Span]) extends InputPartition

  /** Large segments are divided among tasks, small ones share one. */
  private def spread(segments: Seq[SegmentEntry]): Seq[Spans] = {
    val parts = ArrayBuffer.empty[ArrayBuffer[Span]]
    var left = 0
    segments.foreach { segment =>
      var from = 0
      while (from < segment.subscriptions) {
        if (left == 0) {
          parts += ArrayBuffer.empty
          left = RowsOfTask
        }
        val until = from + Math.min(left, segment.subscriptions - from)
        parts.last += Span(segment, from, until)
        left -= until - from
        from = until
      }
    }
    parts.toSeq.map(spans => Spans(spans.toSeq))
  }
}
