package sparkrules.value

import org.apache.spark.unsafe.Platform
import org.apache.spark.unsafe.array.ByteArrayMethods
import org.apache.spark.unsafe.types.UTF8String

/**
 * A hash table from distinct strings to their numbers. The cost of a large table is its cache misses: a look-up has
 * two, one for the entry and, if the hash agrees, one for the bytes of the string, beside which its number lies.
 */
final class StringTable(texts: Array[UTF8String]) {
  // Open addressing, at least half of it free: zero, or the hash above one plus the word where the string lies.
  private val mask = Integer.highestOneBit(2 * texts.length + 1) * 2 - 1
  private val places = new Array[Long](mask + 1)

  // Per string: a word with its number above its length, then its bytes in whole words.
  private val bytes = new Array[Byte](Math.toIntExact(texts.iterator.map(StringTable.size).sum))

  {
    var start = 0
    texts.indices.foreach { i =>
      val text = texts(i)
      Platform.putLong(bytes, Platform.BYTE_ARRAY_OFFSET + start.toLong, (i.toLong << 32) | text.numBytes)
      text.writeToMemory(bytes, Platform.BYTE_ARRAY_OFFSET + start + 8L)
      var place = text.hashCode & mask
      while (places(place) != 0) place = (place + 1) & mask
      places(place) = (text.hashCode.toLong << 32) | (start / 8 + 1)
      start += StringTable.size(text).toInt
    }
  }

  /** The number of a string, or -1. */
  def find(text: UTF8String): Int = {
    val hash = text.hashCode
    var place = hash & mask
    var entry = places(place)
    while (entry != 0) {
      if ((entry >>> 32).toInt == hash) {
        val at = Platform.BYTE_ARRAY_OFFSET + 8L * (entry.toInt - 1)
        val head = Platform.getLong(bytes, at)
        if (head.toInt == text.numBytes &&
          ByteArrayMethods.arrayEquals(text.getBaseObject, text.getBaseOffset, bytes, at + 8, head.toInt.toLong)) {
          return (head >>> 32).toInt
        }
      }
      place = (place + 1) & mask
      entry = places(place)
    }
    -1
  }
}

object StringTable {
  private def size(text: UTF8String): Long = 8 + (text.numBytes + 7L) / 8 * 8
}
