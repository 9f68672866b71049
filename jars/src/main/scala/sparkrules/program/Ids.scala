package sparkrules.program

import org.apache.spark.sql.catalyst.expressions.UnsafeArrayData
import org.apache.spark.unsafe.Platform
import org.apache.spark.unsafe.types.UTF8String

import sparkrules.conf.RulesException

/**
 * The ids of rules, all in one array, each padded with zeros to whole words. A row of Spark holds strings like that, so
 * an answer is made by copying words.
 *
 * @param places per rule: the word where its id begins, above its length in bytes
 */
final class Ids(bytes: Array[Byte], places: Array[Long]) extends Serializable {
  def size: Int = places.length

  /** The id itself, not copied. */
  def apply(i: Int): UTF8String = UTF8String.fromAddress(bytes, Ids.address(places(i)), places(i).toInt)

  /** How many words its bytes take up. */
  def words(i: Int): Int = (places(i).toInt + 7) >> 3

  /** The ids of the first `count` of `rules` as an array of Spark. */
  def array(rules: Array[Int], count: Int, buffer: IdBuffer): UnsafeArrayData = {
    var words = 0L
    var i = 0
    while (i < count) { words += this.words(rules(i)); i += 1 }
    val array = new IdArray(count, words, buffer)
    i = 0
    while (i < count) { array.add(this, rules(i)); i += 1 }
    array.written
  }

  /** Writes an id at `start` of an array, and its place at `entry`; returns its end. */
  private[program] def write(id: Int, buffer: Array[Byte], entry: Int, start: Int): Int = {
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

/** An array of Spark with `count` ids, which take up `words` words. */
private[sparkrules] final class IdArray(count: Int, words: Long, buffer: IdBuffer) {
  private val size = Ids.sizeOf(count, words)
  private val array = buffer.start(count, size)
  private var entry = UnsafeArrayData.calculateHeaderPortionInBytes(count)
  private var place = entry + 8 * count

  def add(ids: Ids, id: Int): Unit = {
    place = ids.write(id, array, entry, place)
    entry += 8
  }

  /** The array, once all ids are added. */
  def written: UnsafeArrayData = Ids.arrayOf(array, size)
}

object Ids {
  private val Largest = Int.MaxValue - 15

  private def address(place: Long): Long = Platform.BYTE_ARRAY_OFFSET + 8L * (place >>> 32)

  private[sparkrules] def sizeOf(count: Int, words: Long): Int = {
    val total = UnsafeArrayData.calculateHeaderPortionInBytes(count) + 8L * count + 8L * words
    if (total > Largest) {
      throw new RulesException(s"The answer for one row, $count elements, takes up more than 2 GB.")
    }
    total.toInt
  }

  private[sparkrules] def arrayOf(buffer: Array[Byte], size: Int): UnsafeArrayData = {
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
