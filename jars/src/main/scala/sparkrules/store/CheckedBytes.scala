package sparkrules.store

import java.io.{EOFException, FileNotFoundException, IOException}
import java.nio.file.AccessDeniedException

import scala.annotation.tailrec

import org.apache.hadoop.fs.{ChecksumException, FSDataInputStream}

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

/** Reads again what could not be read. Files never change, so it makes no difference which attempt was successful. */
private[store] object Repeated {
  private val Attempts = 3

  /** What `read` returns. Fails with [[UnreadableFile]], unless the file is missing or too short. */
  def apply[T](read: => T): T = attempt(() => read, 1)

  @tailrec
  private def attempt[T](read: () => T, number: Int): T = {
    val result =
      try Right(read())
      catch {
        case e: FileNotFoundException => throw e
        case e: AccessDeniedException => throw new UnreadableFile(e)
        case e: IOException => Left(e)
      }
    result match {
      case Right(found) => found
      case Left(_) if number < Attempts => attempt(read, number + 1)
      case Left(e @ (_: EOFException | _: ChecksumException)) => throw e
      case Left(e) => throw new UnreadableFile(e)
    }
  }
}

/** A file cannot be read now, or not by this user. That says nothing about what is in it. */
private[store] final class UnreadableFile(cause: IOException) extends IOException(cause.getMessage, cause)
