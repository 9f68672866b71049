package sparkrules.kernel

import java.util.Arrays

import org.apache.spark.unsafe.Platform
import org.apache.spark.unsafe.array.ByteArrayMethods
import org.apache.spark.unsafe.types.UTF8String

/**
 * Remembers what was computed for strings: columns often have few different ones, in every batch again. A string takes
 * the place of an earlier one with a similar hash, and all go when they take 512 KB, so that memory is bounded. Where
 * strings hardly ever come back, nothing is looked up for a while.
 */
private[kernel] final class StringMemo[A <: AnyRef] {
  import StringMemo._

  private val hashes = new Array[Long](Places)
  private val texts = new Array[Array[Byte]](Places)
  private val values = new Array[AnyRef](Places)
  private var (asked, found, pause) = (0, 0, 0)
  private var bytes = 0
  // Of the last string that was asked for: its hash, or 0 if it is not to be remembered.
  private var hash = 0L

  /** What is remembered for a string, or null. */
  def get(text: UTF8String): A = {
    hash = 0
    if (pause > 0) pause -= 1
    else if (text.numBytes <= Longest) {
      hash = hashOf(text)
      val place = placeOf(hash)
      asked += 1
      if (hashes(place) == hash && isEqual(texts(place), text)) {
        found += 1
        return values(place).asInstanceOf[A]
      }
      if (asked == Trial) {
        if (found < Trial / 4) pause = Pause
        asked = 0
        found = 0
      }
    }
    null.asInstanceOf[A]
  }

  /** Remembers a value for the string that was asked for last. */
  def put(text: UTF8String, value: => A): Unit = if (hash != 0) {
    val place = placeOf(hash)
    bytes += text.numBytes - (if (texts(place) == null) 0 else texts(place).length)
    if (bytes > MostBytes) {
      Arrays.fill(hashes, 0)
      Arrays.fill(texts.asInstanceOf[Array[AnyRef]], null)
      Arrays.fill(values, null)
      bytes = text.numBytes
    }
    hashes(place) = hash
    texts(place) = text.copy().getBytes // of a string whose memory is used again
    values(place) = value
  }
}

private object StringMemo {
  private val Places = 512
  private val Longest = 2048
  private val MostBytes = 1 << 19
  private val Trial = 4096
  private val Pause = 1 << 16

  private val Prime = 0x9e3779b97f4a7c15L

  private def placeOf(hash: Long): Int = (hash >>> 55).toInt

  /** Never 0. */
  private def hashOf(text: UTF8String): Long = {
    val (base, offset, length) = (text.getBaseObject, text.getBaseOffset, text.numBytes)
    var hash = length * Prime
    var i = 0
    while (i + 8 <= length) {
      hash = (hash ^ Platform.getLong(base, offset + i)) * Prime
      hash ^= hash >>> 32
      i += 8
    }
    while (i < length) { hash = (hash ^ Platform.getByte(base, offset + i)) * Prime; i += 1 }
    hash = (hash ^ (hash >>> 29)) * Prime
    if (hash == 0) 1 else hash
  }

  private def isEqual(bytes: Array[Byte], text: UTF8String): Boolean =
    bytes.length == text.numBytes && ByteArrayMethods.arrayEquals(
      bytes, Platform.BYTE_ARRAY_OFFSET.toLong, text.getBaseObject, text.getBaseOffset, bytes.length.toLong)
}
