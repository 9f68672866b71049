package sparkrules

import java.util.Arrays

/**
 * The overlap sets of a row: the groups of two or more matching subscriptions that share a subexpression which is true
 * in this row, no group twice; larger groups first, then in the order of their members.
 *
 * What matches is noted at each of its true nodes at which it can meet another (see [[Sharing]]). Nothing is cleared
 * between rows: what was noted under another stamp is out of date.
 */
final class Overlaps(matcher: RowMatcher) {
  private val sharings = matcher.rules.sharings
  private val truths = sharings.indices.map { p =>
    if (sharings(p).open.values.isEmpty) null else matcher.parts(p).truthOf(matcher.rules.parts(p).forest)
  }.toArray

  // Per number of a node: the row's stamp above the last note of it.
  private val lastNotes = new Array[Long](sharings.last.end)
  private var stamp = 0
  // Per note: the position of what matches, and the note before it of the same node, or -1.
  private var (positions, before) = (new Array[Int](256), new Array[Int](256))
  private var notes = 0
  // The last note of each node that has two or more, at the time of the second.
  private var meetings = new Array[Int](64)
  private var meetingCount = 0

  private var groupMembers = new Array[Int](256)
  private var starts = new Array[Int](65)
  private var hashes = new Array[Int](64)
  private var keys = new Array[Long](64) // by which groups are ordered, unless they are equal
  private var order = new Array[Int](64)
  private var merged = new Array[Int](64)
  private var table = new Array[Int](128) // 1 + the number of a group, or 0

  /** How many groups there are. */
  var count = 0

  /** Group `i` is `members(start(i))` until `members(end(i))`: ascending positions of what matches. */
  def start(i: Int): Int = starts(order(i))
  def end(i: Int): Int = starts(order(i) + 1)
  def members(i: Int): Int = groupMembers(i)

  /** Finds the groups of the last row; to be called after `sort()`. */
  def find(): Unit = {
    stamp += 1
    if (stamp < 0) { Arrays.fill(lastNotes, 0L); stamp = 1 }
    notes = 0
    meetingCount = 0
    count = 0
    if (matcher.count > 1) {
      var position = 0
      while (position < matcher.count) { visit(position); position += 1 }
      collect()
      sort()
    }
  }

  private def visit(position: Int): Unit = {
    val part = matcher.part(position)
    val subscription = matcher.number(position)
    val certain = sharings(part).certain
    var i = certain.start(subscription)
    val end = certain.end(subscription)
    while (i < end) { note(certain.values(i), position); i += 1 }
    val open = sharings(part).open
    i = open.start(subscription)
    val openEnd = open.end(subscription)
    while (i < openEnd) {
      if (truths(part).of(open.values(i + 1))) note(open.values(i), position)
      i += 2
    }
  }

  private def note(number: Int, position: Int): Unit = {
    if (notes == positions.length) {
      positions = Arrays.copyOf(positions, 2 * notes)
      before = Arrays.copyOf(before, 2 * notes)
    }
    val last = lastNotes(number)
    positions(notes) = position
    if ((last >> 32).toInt == stamp) {
      val previous = last.toInt
      before(notes) = previous
      if (before(previous) < 0) {
        if (meetingCount == meetings.length) meetings = Arrays.copyOf(meetings, 2 * meetingCount)
        meetings(meetingCount) = number
        meetingCount += 1
      }
    } else before(notes) = -1
    lastNotes(number) = (stamp.toLong << 32) | notes
    notes += 1
  }

  /** Makes groups of the nodes where several meet, each once. */
  private def collect(): Unit = {
    if (meetingCount > starts.length - 1) {
      val size = 2 * meetingCount
      starts = new Array[Int](size + 1)
      hashes = new Array[Int](size)
      keys = new Array[Long](size)
      order = new Array[Int](size)
      merged = new Array[Int](size)
      table = new Array[Int](Integer.highestOneBit(size) * 4)
    }
    if (groupMembers.length < notes) groupMembers = new Array[Int](2 * notes)
    starts(0) = 0
    var m = 0
    while (m < meetingCount) {
      val from = starts(count)
      var until = from
      var note = lastNotes(meetings(m)).toInt
      var hash = 0
      while (note >= 0) {
        groupMembers(until) = positions(note)
        hash = 31 * hash + positions(note)
        until += 1
        note = before(note)
      }
      keep(from, until, hash)
      m += 1
    }
    var i = 0
    while (i < count) {
      reverse(starts(i), starts(i + 1))
      keys(i) = keyOf(starts(i), starts(i + 1))
      table(slots(i)) = 0
      i += 1
    }
  }

  // Per group: its place in the table.
  private def slots: Array[Int] = merged

  private def keep(from: Int, until: Int, hash: Int): Unit = {
    val mask = table.length - 1
    var place = (hash * 0x9e3779b9) >>> 7 & mask
    while (table(place) != 0 && !isGroup(table(place) - 1, from, until, hash)) place = (place + 1) & mask
    if (table(place) == 0) {
      hashes(count) = hash
      slots(count) = place
      starts(count + 1) = until
      count += 1
      table(place) = count
    }
  }

  private def isGroup(group: Int, from: Int, until: Int, hash: Int): Boolean =
    hashes(group) == hash && Arrays.equals(groupMembers, starts(group), starts(group + 1), groupMembers, from, until)

  private def reverse(from: Int, until: Int): Unit = {
    var (low, high) = (from, until - 1)
    while (low < high) {
      val swapped = groupMembers(low)
      groupMembers(low) = groupMembers(high)
      groupMembers(high) = swapped
      low += 1
      high -= 1
    }
  }

  private def sort(): Unit = {
    var i = 0
    while (i < count) { order(i) = i; i += 1 }
    if (count <= Overlaps.Few) insert(0, count) else mergeSort(0, count)
  }

  private def insert(from: Int, until: Int): Unit = {
    var i = from + 1
    while (i < until) {
      val group = order(i)
      var j = i - 1
      while (j >= from && isBefore(group, order(j))) { order(j + 1) = order(j); j -= 1 }
      order(j + 1) = group
      i += 1
    }
  }

  private def mergeSort(from: Int, until: Int): Unit =
    if (until - from <= Overlaps.Few) insert(from, until)
    else {
      val middle = (from + until) >>> 1
      mergeSort(from, middle)
      mergeSort(middle, until)
      System.arraycopy(order, from, merged, from, until - from)
      var (left, right, next) = (from, middle, from)
      while (next < until) {
        val takesLeft = right == until || left < middle && isBefore(merged(left), merged(right))
        order(next) = if (takesLeft) { left += 1; merged(left - 1) } else { right += 1; merged(right - 1) }
        next += 1
      }
    }

  private def isBefore(a: Int, b: Int): Boolean =
    if (keys(a) != keys(b)) keys(a) < keys(b)
    else {
      val (sizeA, sizeB) = (starts(a + 1) - starts(a), starts(b + 1) - starts(b))
      if (sizeA != sizeB) sizeA > sizeB
      else Arrays.compare(groupMembers, starts(a), starts(a + 1), groupMembers, starts(b), starts(b + 1)) < 0
    }

  /** The size of a group and its first two members in one number, which decides between most groups; or 0. */
  private def keyOf(from: Int, until: Int): Long =
    if (matcher.count > Overlaps.MostInKey) 0L
    else {
      val size = (Overlaps.MostInKey - (until - from)).toLong
      (size << 42) | (groupMembers(from).toLong << 21) | groupMembers(from + 1)
    }
}

object Overlaps {
  private final val Few = 24
  private final val MostInKey = (1 << 21) - 1
}
