package sparkrules.store

import org.apache.hadoop.fs.FSDataInputStream

import sparkrules.value.LruCache

/**
 * The bytes of a file, each block compared with its checksum before anybody sees it. Blocks that are not wanted are not
 * read; of those that were, the last ones are kept, since what is wanted next often begins where this ended.
 */
final class CheckedBytes(in: FSDataInputStream, val length: Long, published: Option[FileSum]) extends AutoCloseable {
  import CheckedBytes._

  published.filter(_.length != length).foreach { sum =>
    throw new IllegalArgumentException(s"it has $length bytes, not ${sum.length}")
  }

  private val kept = new LruCache[Int, Array[Byte]]

  /** There are so many bytes from there on: that has been compared with the length. */
  def apply(from: Long, count: Int): Array[Byte] = {
    val wanted = new Array[Byte](count)
    if (count == 0) wanted
    else published.fold { in.readFully(from, wanted); wanted }(sum => verified(sum, from, wanted))
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
        // Blocks that are wanted as a whole are read at once, to where they are wanted.
        in.readFully(at, wanted, (at - from).toInt, (whole - at).toInt)
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
      in.readFully(start, content)
      sum.check(number, content, 0, size)
      kept.put(number, content)
      kept.trim(Kept)
      content
    }

  override def close(): Unit = in.close()
}

object CheckedBytes {
  // A reader of all columns of the subscriptions, some rows at a time, is in so many places at once: 8 MiB.
  private val Kept = 32
}
