package sparkrules

import org.apache.spark.sql.catalyst.expressions.UnsafeArrayData
import org.apache.spark.unsafe.Platform
import org.apache.spark.unsafe.types.UTF8String

/**
 * The ids of subscriptions, all in one array, each padded with zeros to whole words: that is how a row of Spark holds
 * texts, so that an answer is made by copying words.
 *
 * @param places per subscription: the word where its id begins, above its length in bytes
 */
final class Ids(bytes: Array[Byte], places: Array[Long]) extends Serializable {
  def size: Int = places.length

  /** The id itself, not copied. */
  def apply(i: Int): UTF8String = UTF8String.fromAddress(bytes, Ids.address(places(i)), places(i).toInt)

  private def words(i: Int): Int = (places(i).toInt + 7) >> 3

  /** The ids of the first `count` of `subscriptions` as an array of Spark. */
  def array(subscriptions: Array[Int], count: Int, buffer: IdBuffer): UnsafeArrayData = {
    var words = 0L
    var i = 0
    while (i < count) { words += this.words(subscriptions(i)); i += 1 }
    val size = Ids.sizeOf(count, words)
    val array = buffer.start(count, size)
    var entry = UnsafeArrayData.calculateHeaderPortionInBytes(count)
    var place = entry + 8 * count
    i = 0
    while (i < count) {
      place = write(subscriptions(i), array, entry, place)
      entry += 8
      i += 1
    }
    Ids.arrayOf(array, size)
  }

  /** Writes an id to `start` of an array, and where that is to `entry`; gives the end. */
  private def write(id: Int, buffer: Array[Byte], entry: Int, start: Int): Int = {
    val length = places(id).toInt
    Platform.putLong(buffer, Platform.BYTE_ARRAY_OFFSET + entry.toLong, (start.toLong << 32) | length)
    val target = Platform.BYTE_ARRAY_OFFSET + start.toLong
    val source = Ids.address(places(id))
    var done = 0
    while (done < length) {
      Platform.putLong(buffer, target + done, Platform.getLong(bytes, source + done))
      done += 8
    }
    start + done
  }
}

/** Where arrays of ids are written: each in memory of its own, or one over the other if they are copied at once. */
final class IdBuffer(isReused: Boolean) {
  private var kept = new Array[Byte](0)

  /** An array of so many elements and bytes; its elements are not yet written. */
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

object Ids {
  private val Largest = Int.MaxValue - 15

  private def address(place: Long): Long = Platform.BYTE_ARRAY_OFFSET + 8L * (place >>> 32)

  /** The ids of the first `count` of what was found in several parts, numbered as in `order`, as an array of Spark. */
  def array(all: Array[Ids], order: Order, found: Array[Int], count: Int, buffer: IdBuffer): UnsafeArrayData = {
    val main = all(order.main)
    var words = 0L
    var i = 0
    while (i < count) {
      words += (if (found(i) >= 0) main else all(order.part(found(i)))).words(order.subscription(found(i)))
      i += 1
    }
    val size = sizeOf(count, words)
    val array = buffer.start(count, size)
    var entry = UnsafeArrayData.calculateHeaderPortionInBytes(count)
    var place = entry + 8 * count
    i = 0
    while (i < count) {
      val own = if (found(i) >= 0) main else all(order.part(found(i)))
      place = own.write(order.subscription(found(i)), array, entry, place)
      entry += 8
      i += 1
    }
    arrayOf(array, size)
  }

  /**
   * The ids of the members of each group as an array of arrays, those of Spark: in one piece, so that it is written by
   * one copy. They are copied from `ids`, those of all that matches, which are near: most are in several groups.
   */
  def arrays(groups: Overlaps, ids: UnsafeArrayData, buffer: IdBuffer): UnsafeArrayData = {
    val source = ids.getBaseObject
    val members = groups.members
    val from = ids.getBaseOffset
    val entries = from + UnsafeArrayData.calculateHeaderPortionInBytes(ids.numElements)
    val header = UnsafeArrayData.calculateHeaderPortionInBytes(groups.count)
    val size = sizeOf(groups.count, wordsOf(groups, source, entries))
    val array = buffer.start(groups.count, size)
    var base = header + 8 * groups.count
    var group = 0
    while (group < groups.count) {
      var i = groups.start(group)
      val count = groups.size(group)
      val end = i + count
      val start = Platform.BYTE_ARRAY_OFFSET + base.toLong
      IdBuffer.startArray(array, start, count)
      var entry = start + UnsafeArrayData.calculateHeaderPortionInBytes(count)
      var place = entry + 8L * count
      while (i < end) {
        val own = Platform.getLong(source, entries + 8L * members(i))
        Platform.putLong(array, entry, ((place - start) << 32) | own.toInt)
        var read = from + (own >>> 32)
        val until = read + own.toInt
        while (read < until) {
          Platform.putLong(array, place, Platform.getLong(source, read))
          read += 8
          place += 8
        }
        entry += 8
        i += 1
      }
      Platform.putLong(array, Platform.BYTE_ARRAY_OFFSET + header + 8L * group, (base.toLong << 32) | (place - start))
      base += (place - start).toInt
      group += 1
    }
    arrayOf(array, size)
  }

  /** How many words the arrays of all groups take up, given where the entries of their members are. */
  private def wordsOf(groups: Overlaps, source: AnyRef, entries: Long): Long = {
    val members = groups.members
    var words = 0L
    var group = 0
    while (group < groups.count) {
      var i = groups.start(group)
      val count = groups.size(group)
      val end = i + count
      words += (UnsafeArrayData.calculateHeaderPortionInBytes(count) >> 3) + count
      while (i < end) {
        words += (Platform.getLong(source, entries + 8L * members(i)).toInt + 7) >>> 3
        i += 1
      }
      group += 1
    }
    words
  }

  private def sizeOf(count: Int, words: Long): Int = {
    val total = UnsafeArrayData.calculateHeaderPortionInBytes(count) + 8L * count + 8L * words
    if (total > Largest) {
      throw new RulesException(s"What was found for one row, $count elements, takes up more than 2 GB.")
    }
    total.toInt
  }

  private def arrayOf(buffer: Array[Byte], size: Int): UnsafeArrayData = {
    val array = new UnsafeArrayData
    array.pointTo(buffer, Platform.BYTE_ARRAY_OFFSET, size)
    array
  }

  def apply(texts: Array[UTF8String]): Ids = {
    val starts = texts.iterator.map(t => (t.numBytes + 7) / 8).scanLeft(0)(Math.addExact).toArray
    val bytes = new Array[Byte](Math.multiplyExact(8, starts.last))
    val places = Array.tabulate(texts.length)(i => (starts(i).toLong << 32) | texts(i).numBytes)
    texts.indices.foreach(i => texts(i).writeToMemory(bytes, address(places(i))))
    new Ids(bytes, places)
  }
}
