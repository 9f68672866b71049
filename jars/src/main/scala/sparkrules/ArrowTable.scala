package sparkrules

import java.nio.charset.StandardCharsets.UTF_8

import scala.collection.mutable.ArrayBuffer
import scala.jdk.CollectionConverters._

import org.apache.arrow.memory.RootAllocator
import org.apache.arrow.vector.{FieldVector, IntVector, VarCharVector}
import org.apache.arrow.vector.complex.ListVector
import org.apache.arrow.vector.ipc.{ArrowFileReader, SeekableReadChannel}
import org.apache.arrow.vector.types.pojo.ArrowType
import org.apache.arrow.vector.util.ByteArrayReadableSeekableByteChannel

/** The columns of one Arrow file, as JVM arrays. Only the types of docs/store-format.md occur. */
final class ArrowTable private (columns: Map[String, Array[_]]) {
  def ints(name: String): Array[Int] = column(name) { case numbers: Array[Int] => numbers }
  def strings(name: String): Array[String] = column(name) { case texts: Array[String] => texts }
  def lists(name: String): IntLists = IntLists(column(name) { case lists: Array[Array[Int]] => lists })

  private def column[T](name: String)(wanted: PartialFunction[Array[_], T]): T =
    columns.get(name).flatMap(wanted.lift).getOrElse(
      throw new IllegalArgumentException(s"it has no column '$name' of the right type"))
}

object ArrowTable {

  def read(bytes: Array[Byte]): ArrowTable = {
    // A damaged file can ask for any amount of memory; a whole one is no larger in memory than it is here.
    val allocator = new RootAllocator(4L * bytes.length + 1000000)
    val reader =
      new ArrowFileReader(new SeekableReadChannel(new ByteArrayReadableSeekableByteChannel(bytes)), allocator)
    try {
      val batches = ArrayBuffer.empty[Map[String, Array[_]]]
      while (reader.loadNextBatch()) {
        batches += reader.getVectorSchemaRoot.getFieldVectors.asScala.map(v => v.getName -> values(v)).toMap
      }
      new ArrowTable(reader.getVectorSchemaRoot.getSchema.getFields.asScala.map { field =>
        val parts = batches.iterator.map(_(field.getName))
        field.getName -> (field.getType match {
          case _: ArrowType.Int => parts.flatMap(_.asInstanceOf[Array[Int]]).toArray[Int]
          case _: ArrowType.Utf8 => parts.flatMap(_.asInstanceOf[Array[String]]).toArray[String]
          case _ => parts.flatMap(_.asInstanceOf[Array[Array[Int]]]).toArray[Array[Int]]
        })
      }.toMap)
    } finally {
      reader.close()
      allocator.close()
    }
  }

  private def values(vector: FieldVector): Array[_] = vector match {
    case ints: IntVector => Array.tabulate[Int](ints.getValueCount)(i => ints.get(i))
    case texts: VarCharVector =>
      Array.tabulate[String](texts.getValueCount)(i => if (texts.isNull(i)) null else new String(texts.get(i), UTF_8))
    case lists: ListVector =>
      val data = lists.getDataVector.asInstanceOf[IntVector]
      Array.tabulate[Array[Int]](lists.getValueCount) { i =>
        val start = lists.getElementStartIndex(i)
        Array.tabulate[Int](lists.getElementEndIndex(i) - start)(j => data.get(start + j))
      }
    case other => throw new IllegalArgumentException(s"column ${other.getName} has the unknown type ${other.getField}")
  }
}
