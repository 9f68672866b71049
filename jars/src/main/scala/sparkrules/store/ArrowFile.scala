package sparkrules.store

import java.nio.{ByteBuffer, ByteOrder}

import scala.jdk.CollectionConverters._

import org.apache.arrow.flatbuf.{Footer, Message, MessageHeader, RecordBatch}
import org.apache.arrow.vector.ipc.message.{ArrowBlock, ArrowFooter}
import org.apache.arrow.vector.types.TimeUnit
import org.apache.arrow.vector.types.pojo.{ArrowType, Field}
import org.apache.spark.sql.types.{ArrayType, BooleanType, DataType, IntegerType, StringType, TimestampType}

/**
 * A column of a file and its expected type, one of those in docs/store-format.md. One that is optional is NULL in the
 * files that lack it.
 */
final case class StoredColumn(name: String, dataType: DataType, isOptional: Boolean = false)

/**
 * An Arrow file of the store. Reads only the columns and rows that are asked for. Arrow's own reader reads whole record
 * batches, and a file of the store is one: a query for the ids of a million rules would hold all their texts. Files can
 * be damaged, so that every position is compared with the file's length before it is used.
 */
final class ArrowFile(content: CheckedBytes) extends AutoCloseable {
  import ArrowFile._

  private val length = content.length

  private val footer = new ArrowFooter(Footer.getRootAsFooter(footerBytes()))
  private val fields: Seq[Field] = footer.getSchema.getFields.asScala.toSeq

  /** The record batches, each with the number of its first row. */
  val batches: Seq[Batch] =
    footer.getRecordBatches.asScala.toSeq.scanLeft(new Batch(0, 0, 0, null)) { (before, block) =>
      batch(block, Math.addExact(before.first, before.rows))
    }.tail

  val rows: Int = batches.lastOption.fold(0)(last => Math.addExact(last.first, last.rows))

  def has(column: String): Boolean = fields.exists(_.getName == column)

  /** Some rows of a column, numbered from 0. */
  def slice(batch: Batch, column: StoredColumn, from: Int, until: Int): Slice =
    if (column.isOptional && !has(column.name)) new Missing(until - from) else existing(batch, column, from, until)

  private def existing(batch: Batch, column: StoredColumn, from: Int, until: Int): Slice = {
    val index = fields.indexWhere(_.getName == column.name)
    if (index < 0) damaged(s"it has no column '${column.name}'")
    val buffer = fields.take(index).map(buffers).sum
    val node = fields.take(index).map(nodes).sum
    if (from < 0 || until > batch.rows || batch.metadata.nodes(node).length != batch.rows) {
      damaged(s"the column '${column.name}' is too short")
    }
    val present = validity(batch, buffer, from, until)
    (column.dataType, fields(index).getType) match {
      case (IntegerType, _) if isInt(fields(index)) => new Ints(present, ints(batch, buffer + 1, from, until))
      case (BooleanType, _: ArrowType.Bool) => new Truths(present, bits(batch, buffer + 1, from, until), until - from)
      case (TimestampType, instants: ArrowType.Timestamp) if instants.getUnit == TimeUnit.MICROSECOND =>
        new Longs(present, longs(batch, buffer + 1, from, until))
      case (StringType, _: ArrowType.Utf8) =>
        texts(batch, buffer, from, until)
      case (_: ArrayType, _: ArrowType.List) if isInt(fields(index).getChildren.get(0)) =>
        val offsets = this.offsets(batch, buffer + 1, from, until)
        new Lists(present, offsets.map(_ - offsets.head), ints(batch, buffer + 3, offsets.head, offsets.last))
      case (ArrayType(StringType, _), _: ArrowType.List) if isText(fields(index).getChildren.get(0)) =>
        val offsets = this.offsets(batch, buffer + 1, from, until)
        val (first, last) = (offsets.head, offsets.last)
        new TextLists(present, offsets.map(_ - first), texts(batch, buffer + 2, first, last))
      case (_, other) => damaged(s"the column '${column.name}' has the type $other")
    }
  }

  /** Strings, the first of whose three buffers is `buffer`. */
  private def texts(batch: Batch, buffer: Int, from: Int, until: Int): Texts = {
    val offsets = if (from == until) Array(0) else this.offsets(batch, buffer + 1, from, until)
    val content = read(batch, buffer + 2, offsets.head, offsets.last - offsets.head)
    new Texts(validity(batch, buffer, from, until), offsets.map(_ - offsets.head), content)
  }

  def slices(column: StoredColumn): Seq[Slice] = batches.map(batch => slice(batch, column, 0, batch.rows))

  override def close(): Unit = content.close()

  private def batch(block: ArrowBlock, first: Int): Batch = {
    val metadata = bytes(block.getOffset, block.getMetadataLength)
    metadata.position(if (metadata.getInt(0) == Continuation) 8 else 4)
    val message = Message.getRootAsMessage(metadata)
    if (message.headerType != MessageHeader.RecordBatch) damaged("it has something else in place of rows")
    val header = message.header(new RecordBatch).asInstanceOf[RecordBatch]
    if (header.compression != null) damaged("it is compressed")
    if (header.length < 0 || header.length > Int.MaxValue) damaged(s"it has ${header.length} rows")
    new Batch(first, header.length.toInt, block.getOffset + block.getMetadataLength, header)
  }

  private def footerBytes(): ByteBuffer = {
    if (length < Magic.length * 2 + 4) damaged("it is too short")
    val end = bytes(length - Magic.length - 4, Magic.length + 4)
    if (!end.array.drop(4).sameElements(Magic)) damaged("it is not an Arrow file, or not all of one")
    val size = end.getInt(0)
    bytes(length - Magic.length - 4 - size, size)
  }

  private def offsets(batch: Batch, buffer: Int, from: Int, until: Int): Array[Int] =
    if (batch.rows == 0) Array(0) // an empty batch can lack offsets
    else {
      val offsets = ints(batch, buffer, from, until + 1)
      var i = 1
      while (i < offsets.length) {
        if (offsets(i) < offsets(i - 1)) damaged("offsets decrease")
        i += 1
      }
      offsets
    }

  private def ints(batch: Batch, buffer: Int, from: Int, until: Int): Array[Int] = {
    val raw = ByteBuffer.wrap(read(batch, buffer, from * 4L, (until - from) * 4L))
    val values = new Array[Int](until - from)
    raw.order(ByteOrder.LITTLE_ENDIAN).asIntBuffer.get(values)
    values
  }

  private def longs(batch: Batch, buffer: Int, from: Int, until: Int): Array[Long] = {
    val raw = ByteBuffer.wrap(read(batch, buffer, from * 8L, (until - from) * 8L))
    val values = new Array[Long](until - from)
    raw.order(ByteOrder.LITTLE_ENDIAN).asLongBuffer.get(values)
    values
  }

  private def validity(batch: Batch, buffer: Int, from: Int, until: Int): Presence =
    if (batch.metadata.buffers(buffer).length == 0) Presence.All else bits(batch, buffer, from, until)

  private def bits(batch: Batch, buffer: Int, from: Int, until: Int): Presence =
    new Presence(read(batch, buffer, from / 8, (until + 7) / 8 - from / 8), from % 8)

  /** Bytes of a batch's buffer. */
  private def read(batch: Batch, buffer: Int, from: Long, count: Long): Array[Byte] = {
    val region = batch.metadata.buffers(buffer)
    if (from < 0 || count < 0 || from + count > region.length) damaged("a column is too short")
    bytes(batch.body + region.offset + from, count).array
  }

  private def bytes(from: Long, count: Long): ByteBuffer = {
    if (from < 0 || count < 0 || count > Int.MaxValue || from + count > length) damaged("it is too short")
    ByteBuffer.wrap(content(from, count.toInt)).order(ByteOrder.LITTLE_ENDIAN)
  }
}

object ArrowFile {
  private val Magic = "ARROW1".getBytes("US-ASCII")
  private val Continuation = -1

  /** @param body where in the file its buffers begin */
  final class Batch(
      val first: Int,
      val rows: Int,
      private[ArrowFile] val body: Long,
      private[ArrowFile] val metadata: RecordBatch)

  private def damaged(fault: String): Nothing = throw new IllegalArgumentException(fault)

  private def isInt(field: Field): Boolean = field.getType match {
    case int: ArrowType.Int => int.getBitWidth == 32
    case _ => false
  }

  private def isText(field: Field): Boolean = field.getType.isInstanceOf[ArrowType.Utf8]

  private def nodes(field: Field): Int = 1 + field.getChildren.asScala.map(nodes).sum

  private def buffers(field: Field): Int = {
    val own = field.getType match {
      case _: ArrowType.Utf8 => 3
      case _: ArrowType.Int | _: ArrowType.Bool | _: ArrowType.Timestamp | _: ArrowType.List => 2
      case other => damaged(s"the column '${field.getName}' has the unknown type $other")
    }
    own + field.getChildren.asScala.map(buffers).sum
  }
}
