package sparkrules

import org.apache.spark.sql.catalyst.expressions.UnsafeArrayData
import org.apache.spark.unsafe.Platform
import org.apache.spark.unsafe.types.UTF8String

/**
 * The ids of subscriptions, all in one array, each padded with zeros to whole words: that is how a row of Spark holds
 * texts, so that an answer is made by copying words.
 *
 * @param offsets per subscription: the word where its id begins; and the end
 * @param padding per subscription: how many bytes of its last word are not its own
 */
final class Ids(val bytes: Array[Byte], val offsets: Array[Int], padding: Array[Byte]) extends Serializable {
  def size: Int = padding.length

  def length(i: Int): Int = 8 * (offsets(i + 1) - offsets(i)) - padding(i)

  /** The id itself, not copied. */
  def apply(i: Int): UTF8String = UTF8String.fromAddress(bytes, Platform.BYTE_ARRAY_OFFSET + 8L * offsets(i), length(i))

  private def words(i: Int): Int = offsets(i + 1) - offsets(i)

  /** The ids of `subscriptions(from)` until `subscriptions(until)` as a new array of Spark. */
  def array(subscriptions: Array[Int], from: Int, until: Int): UnsafeArrayData = {
    val count = until - from
    var words = 0L
    var i = from
    while (i < until) { words += offsets(subscriptions(i) + 1) - offsets(subscriptions(i)); i += 1 }
    val header = UnsafeArrayData.calculateHeaderPortionInBytes(count)
    val buffer = Ids.buffer(count, words)
    var entry = header
    var place = header + 8 * count
    i = from
    while (i < until) {
      place = write(subscriptions(i), buffer, entry, place)
      entry += 8
      i += 1
    }
    Ids.arrayOf(buffer)
  }

  /** Writes an id to `start` of an array, and where that is to `entry`; gives the end. */
  private def write(id: Int, buffer: Array[Byte], entry: Int, start: Int): Int = {
    var place = start
    var source = Platform.BYTE_ARRAY_OFFSET + 8L * offsets(id)
    val end = Platform.BYTE_ARRAY_OFFSET + 8L * offsets(id + 1)
    Platform.putLong(buffer, Platform.BYTE_ARRAY_OFFSET + entry.toLong, (place.toLong << 32) | length(id))
    while (source < end) {
      Platform.putLong(buffer, Platform.BYTE_ARRAY_OFFSET + place.toLong, Platform.getLong(bytes, source))
      source += 8
      place += 8
    }
    place
  }
}

object Ids {
  private val Largest = Int.MaxValue - 15

  /** The ids of the first `count` of what was found in several parts, numbered as in `order`, as a new array of Spark. */
  def array(all: Array[Ids], order: Order, found: Array[Int], count: Int): UnsafeArrayData = {
    val main = all(order.main)
    var words = 0L
    var i = 0
    while (i < count) {
      words += (if (found(i) >= 0) main else all(order.part(found(i)))).words(order.subscription(found(i)))
      i += 1
    }
    val header = UnsafeArrayData.calculateHeaderPortionInBytes(count)
    val array = buffer(count, words)
    var entry = header
    var place = header + 8 * count
    i = 0
    while (i < count) {
      val own = if (found(i) >= 0) main else all(order.part(found(i)))
      place = own.write(order.subscription(found(i)), array, entry, place)
      entry += 8
      i += 1
    }
    arrayOf(array)
  }

  /**
   * The ids of the members of each group as a new array of arrays, those of Spark: in one piece, so that it is written by
   * one copy. They are copied from `ids`, those of all that matches, which are near: most are in several groups.
   */
  def arrays(groups: Overlaps, ids: UnsafeArrayData): UnsafeArrayData = {
    val source = ids.getBaseObject
    val from = ids.getBaseOffset
    val entries = from + UnsafeArrayData.calculateHeaderPortionInBytes(ids.numElements)
    var words = 0L
    var group = 0
    while (group < groups.count) {
      var i = groups.start(group)
      val end = groups.end(group)
      words += UnsafeArrayData.calculateHeaderPortionInBytes(end - i) / 8 + (end - i)
      while (i < end) {
        words += (Platform.getLong(source, entries + 8L * groups.members(i)).toInt + 7) >>> 3
        i += 1
      }
      group += 1
    }
    val header = UnsafeArrayData.calculateHeaderPortionInBytes(groups.count)
    val array = buffer(groups.count, words)
    var base = header + 8 * groups.count
    group = 0
    while (group < groups.count) {
      var i = groups.start(group)
      val end = groups.end(group)
      val start = Platform.BYTE_ARRAY_OFFSET + base.toLong
      Platform.putLong(array, start, (end - i).toLong)
      var entry = UnsafeArrayData.calculateHeaderPortionInBytes(end - i)
      var place = entry + 8 * (end - i)
      while (i < end) {
        val own = Platform.getLong(source, entries + 8L * groups.members(i))
        Platform.putLong(array, start + entry, (place.toLong << 32) | own.toInt)
        var read = from + (own >>> 32)
        val until = read + ((own.toInt + 7) & ~7)
        while (read < until) {
          Platform.putLong(array, start + place, Platform.getLong(source, read))
          read += 8
          place += 8
        }
        entry += 8
        i += 1
      }
      Platform.putLong(array, Platform.BYTE_ARRAY_OFFSET + header + 8L * group, (base.toLong << 32) | place)
      base += place
      group += 1
    }
    arrayOf(array)
  }

  private def buffer(count: Int, words: Long): Array[Byte] = {
    val total = UnsafeArrayData.calculateHeaderPortionInBytes(count) + 8L * count + 8L * words
    if (total > Largest) {
      throw new RulesException(s"What was found for one row, $count elements, takes up more than 2 GB.")
    }
    val buffer = new Array[Byte](total.toInt)
    Platform.putLong(buffer, Platform.BYTE_ARRAY_OFFSET, count.toLong)
    buffer
  }

  private def arrayOf(buffer: Array[Byte]): UnsafeArrayData = {
    val array = new UnsafeArrayData
    array.pointTo(buffer, Platform.BYTE_ARRAY_OFFSET, buffer.length)
    array
  }

  def apply(texts: Array[UTF8String]): Ids = {
    val offsets = texts.iterator.map(t => (t.numBytes + 7) / 8).scanLeft(0)(Math.addExact).toArray
    val bytes = new Array[Byte](Math.multiplyExact(8, offsets.last))
    texts.indices.foreach(i => texts(i).writeToMemory(bytes, Platform.BYTE_ARRAY_OFFSET + 8L * offsets(i)))
    new Ids(bytes, offsets, Array.tabulate(texts.length)(i => ((8 - texts(i).numBytes % 8) % 8).toByte))
  }
}
