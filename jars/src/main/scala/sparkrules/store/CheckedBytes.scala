package sparkrules.store

import java.io.IOException

import org.apache.hadoop.fs.FSDataInputStream

import sparkrules.value.LruCache

/**
 * The bytes of a file. Compares each block with its checksum. Reads only the blocks that are asked for, and keeps the
 * last ones, because the next bytes often begin where these ended.
 */
final class CheckedBytes(open: () => FSDataInputStream, val length: Long, published: Option[FileSum])
    extends AutoCloseable {
  import CheckedBytes._

  published.filter(_.length != length).foreach { sum =>
    throw new IllegalArgumentException(s"it has $length bytes, not ${sum.length}")
  }

  private var in = open()
  private val kept = new LruCache[Int, Array[Byte]]

  /** So many bytes from there on. The caller has compared their number with the length. */
  def apply(from: Long, count: Int): Array[Byte] = {
    val wanted = new Array[Byte](count)
    if (count == 0) wanted
    else published.fold { read(from, wanted, 0, count); wanted }(sum => verified(sum, from, wanted))
  }

  private def verified(sum: FileSum, from: Long, wanted: Array[Byte]): Array[Byte] = {
    val end = from + wanted.length
    var at = from
    while (at < end) {
      val number = (at / Checksum.Block).toInt
      val start = number.toLong * Checksum.Block
      val size = sizeFrom(start)
      val whole = if (end == length) end else end - end % Checksum.Block
      if (at == start && whole > at) {
        // Whole blocks are read at once, without a copy.
        read(at, wanted, (at - from).toInt, (whole - at).toInt)
        while (at < whole) {
          sum.check((at / Checksum.Block).toInt, wanted, (at - from).toInt, sizeFrom(at))
          at += sizeFrom(at)
        }
      } else {
        val count = (Math.min(end, start + size) - at).toInt
        System.arraycopy(block(sum, number, start, size), (at - start).toInt, wanted, (at - from).toInt, count)
        at += count
      }
    }
    wanted
  }

  /** The size of the block that begins there. */
  private def sizeFrom(start: Long): Int = Math.min(Checksum.Block.toLong, length - start).toInt

  private def block(sum: FileSum, number: Int, start: Long, size: Int): Array[Byte] =
    kept.get(number).getOrElse {
      val content = new Array[Byte](size)
      read(start, content, 0, size)
      sum.check(number, content, 0, size)
      kept.put(number, content)
      kept.trim(Kept)
      content
    }

  /** Some streams cannot be used any more once a connection was lost. */
  private def read(from: Long, into: Array[Byte], offset: Int, count: Int): Unit =
    Repeated {
      try in.readFully(from, into, offset, count)
      catch { case e: IOException => in.close(); in = open(); throw e }
    }

  override def close(): Unit = in.close()
}

object CheckedBytes {
  // Who reads all columns of the rules, some rows at a time, reads in so many places at once: 8 MiB.
  private val Kept = 32
}
