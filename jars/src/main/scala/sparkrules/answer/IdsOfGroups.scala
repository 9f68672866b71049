package sparkrules.answer

import org.apache.spark.sql.catalyst.expressions.UnsafeArrayData
import org.apache.spark.unsafe.Platform

import sparkrules.program.{IdBuffer, Ids}

/** The ids of rules in the overlap sets of a row. */
object IdsOfGroups {

  /**
   * The ids of the members of each group as an array of arrays of Spark, in one piece, so that one copy writes it. They
   * are copied from `ids`, those of all matches, which are in the cache: most are in several groups.
   */
  def arrays(groups: Overlaps, ids: UnsafeArrayData, buffer: IdBuffer): UnsafeArrayData = {
    val source = ids.getBaseObject
    val members = groups.members
    val from = ids.getBaseOffset
    val entries = from + UnsafeArrayData.calculateHeaderPortionInBytes(ids.numElements)
    val header = UnsafeArrayData.calculateHeaderPortionInBytes(groups.count)
    val size = Ids.sizeOf(groups.count, wordsOf(groups, source, entries))
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
    Ids.arrayOf(array, size)
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
}
