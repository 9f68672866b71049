package sparkrules.store

import java.io.ByteArrayOutputStream
import java.nio.channels.Channels

import org.apache.arrow.memory.RootAllocator
import org.apache.arrow.vector.{IntVector, VectorSchemaRoot}
import org.apache.arrow.vector.ipc.ArrowFileWriter
import org.apache.arrow.vector.types.pojo.{ArrowType, Field, FieldType, Schema}

import scala.jdk.CollectionConverters._

/** The content of a file in `removed/`: a column `row` of ascending 32-bit integers. */
object RemovedRows {
  private val schema = new Schema(Seq(new Field("row", FieldType.nullable(new ArrowType.Int(32, true)), null)).asJava)

  def arrow(rows: Array[Int]): Array[Byte] = {
    val allocator = new RootAllocator()
    val root = VectorSchemaRoot.create(schema, allocator)
    try {
      val vector = root.getVector("row").asInstanceOf[IntVector]
      vector.allocateNew(rows.length)
      rows.indices.foreach(i => vector.set(i, rows(i)))
      root.setRowCount(rows.length)
      val out = new ByteArrayOutputStream()
      val writer = new ArrowFileWriter(root, null, Channels.newChannel(out))
      writer.start()
      writer.writeBatch()
      writer.end()
      writer.close()
      out.toByteArray
    } finally {
      root.close()
      allocator.close()
    }
  }
}
