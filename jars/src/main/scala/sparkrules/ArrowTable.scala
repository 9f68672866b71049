package sparkrules

import java.nio.charset.StandardCharsets.UTF_8
import java.util.Arrays

import scala.collection.mutable.ArrayBuffer
import scala.jdk.CollectionConverters._

import org.apache.arrow.memory.RootAllocator
import org.apache.arrow.vector.{FieldVector, IntVector, TimeStampMicroTZVector, VarCharVector}
import org.apache.arrow.vector.complex.ListVector
import org.apache.arrow.vector.ipc.{ArrowFileReader, SeekableReadChannel}
import org.apache.arrow.vector.types.pojo.ArrowType
import org.apache.arrow.vector.util.ByteArrayReadableSeekableByteChannel

import org.apache.spark.unsafe.types.UTF8String

/** The columns of one Arrow file, as JVM arrays. Only the types of docs/store-format.md occur. */
final class ArrowTable private (columns: Map[String, AnyRef]) {
  def ints(name: String): Array[Int] = column(name) { case numbers: Array[Int] => numbers }

  /** A text that is the same as the one before is the same object. */
  def strings(name: String): Array[String] = column(name) { case texts: ArrowTable.Texts =>
    val all = new Array[String](texts.length)
    all.indices.foreach { i =>
      if (i > 0 && (texts(i) eq texts(i - 1))) all(i) = all(i - 1)
      else if (texts(i) != null) all(i) = new String(texts(i), UTF_8)
    }
    all
  }

  def utf8Strings(name: String): Array[UTF8String] = column(name) { case texts: ArrowTable.Texts =>
    texts.map(UTF8String.fromBytes)
  }
  /** Microseconds since 1970, or [[ArrowTable.NoInstant]] for NULL. */
  def instants(name: String): Array[Long] = column(name) { case instants: Array[Long] => instants }
  def lists(name: String): IntLists = column(name) { case lists: IntLists => lists }

  private def column[T](name: String)(wanted: PartialFunction[AnyRef, T]): T =
    columns.get(name).flatMap(wanted.lift).getOrElse(
      throw new IllegalArgumentException(s"it has no column '$name' of the right type"))
}

object ArrowTable {
  val NoInstant: Long = Long.MinValue

  private type Texts = Array[Array[Byte]]

  /** The columns that are `wanted`. */
  def read(bytes: Array[Byte], wanted: String => Boolean = _ => true): ArrowTable = {
    // A damaged file can ask for any amount of memory; a whole one is no larger in memory than it is here.
    val allocator = new RootAllocator(4L * bytes.length + 1000000)
    val reader =
      new ArrowFileReader(new SeekableReadChannel(new ByteArrayReadableSeekableByteChannel(bytes)), allocator)
    try {
      val batches = ArrayBuffer.empty[Map[String, AnyRef]]
      while (reader.loadNextBatch()) {
        val vectors = reader.getVectorSchemaRoot.getFieldVectors.asScala.filter(v => wanted(v.getName))
        batches += vectors.map(v => v.getName -> values(v)).toMap
      }
      val fields = reader.getVectorSchemaRoot.getSchema.getFields.asScala.filter(field => wanted(field.getName))
      new ArrowTable(fields.map { field =>
        val parts = batches.toSeq.map(_(field.getName))
        field.getName -> (field.getType match {
          case _ if parts.length == 1 => parts.head
          case _: ArrowType.Int => Array.concat(parts.map(_.asInstanceOf[Array[Int]]): _*)
          case _: ArrowType.Timestamp => Array.concat(parts.map(_.asInstanceOf[Array[Long]]): _*)
          case _: ArrowType.Utf8 => Array.concat(parts.map(_.asInstanceOf[Texts]): _*)
          case _ => IntLists.concat(parts.map(_.asInstanceOf[IntLists]))
        })
      }.toMap)
    } finally {
      reader.close()
      allocator.close()
    }
  }

  private def values(vector: FieldVector): AnyRef = vector match {
    case ints: IntVector => numbers(ints, 0, ints.getValueCount)
    case vector: VarCharVector => texts(vector)
    case instants: TimeStampMicroTZVector =>
      Array.tabulate(instants.getValueCount)(i => if (instants.isNull(i)) NoInstant else instants.get(i))
    case lists: ListVector =>
      val data = lists.getDataVector.asInstanceOf[IntVector]
      val count = lists.getValueCount
      val offsets = new Array[Int](count + 1)
      var i = 0
      while (i < count) {
        val length = lists.getElementEndIndex(i) - lists.getElementStartIndex(i)
        if (length < 0) throw new IllegalArgumentException(s"column ${lists.getName} has a list of length $length")
        offsets(i + 1) = Math.addExact(offsets(i), length)
        i += 1
      }
      val start = if (count == 0) 0 else lists.getElementStartIndex(0)
      new IntLists(offsets, numbers(data, start, offsets(count)))
    case other => throw new IllegalArgumentException(s"column ${other.getName} has the unknown type ${other.getField}")
  }

  private def numbers(vector: IntVector, from: Int, count: Int): Array[Int] = {
    if (from < 0 || count < 0 || from + count > vector.getValueCount) {
      throw new IllegalArgumentException(s"column ${vector.getName} is too short")
    }
    val all = new Array[Int](count)
    var i = 0
    while (i < count) { all(i) = vector.get(from + i); i += 1 }
    all
  }

  /** Their bytes; equal ones behind each other are one object. */
  private def texts(vector: VarCharVector): Texts = {
    val all = new Texts(vector.getValueCount)
    all.indices.foreach { i =>
      if (!vector.isNull(i)) {
        val bytes = vector.get(i)
        all(i) = if (i > 0 && Arrays.equals(bytes, all(i - 1))) all(i - 1) else bytes
      }
    }
    all
  }
}
