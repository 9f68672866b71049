package sparkrules.store

import java.io.{ByteArrayInputStream, EOFException}

import org.apache.hadoop.fs.{FSDataInputStream, PositionedReadable, Seekable}

/** A file of Hadoop's that is in memory. */
object InMemoryInput {
  def apply(content: Array[Byte]): FSDataInputStream = new FSDataInputStream(new Input(content))

  private final class Input(content: Array[Byte])
      extends ByteArrayInputStream(content) with Seekable with PositionedReadable {
    override def seek(to: Long): Unit = pos = to.toInt
    override def getPos: Long = pos.toLong
    override def seekToNewSource(to: Long): Boolean = false
    override def read(from: Long, buffer: Array[Byte], offset: Int, length: Int): Int = {
      val count = math.min(length.toLong, content.length - from).toInt
      if (count > 0) System.arraycopy(content, from.toInt, buffer, offset, count)
      count
    }
    override def readFully(from: Long, buffer: Array[Byte], offset: Int, length: Int): Unit =
      if (read(from, buffer, offset, length) < length) throw new EOFException
    override def readFully(from: Long, buffer: Array[Byte]): Unit = readFully(from, buffer, 0, buffer.length)
  }
}
