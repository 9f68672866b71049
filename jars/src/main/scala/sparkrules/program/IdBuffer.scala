package sparkrules.program

import org.apache.spark.sql.catalyst.expressions.UnsafeArrayData
import org.apache.spark.unsafe.Platform

/** Where arrays of ids are written: each in memory of its own, or one over the other if they are copied at once. */
final class IdBuffer(isReused: Boolean) {
  private var kept = new Array[Byte](0)

  /** An array of `count` elements and `size` bytes; its elements are not yet written. */
  def start(count: Int, size: Int): Array[Byte] = {
    if (!isReused || kept.length < size) kept = new Array[Byte](if (isReused) math.max(size, 2 * kept.length) else size)
    IdBuffer.startArray(kept, Platform.BYTE_ARRAY_OFFSET.toLong, count)
    kept
  }
}

object IdBuffer {

  /** The header of an array of Spark: how many elements it has, and that none is NULL. */
  def startArray(bytes: Array[Byte], address: Long, count: Int): Unit = {
    Platform.putLong(bytes, address, count.toLong)
    val end = address + UnsafeArrayData.calculateHeaderPortionInBytes(count)
    var word = address + 8
    while (word < end) { Platform.putLong(bytes, word, 0L); word += 8 }
  }
}
