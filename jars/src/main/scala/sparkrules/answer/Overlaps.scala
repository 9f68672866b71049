package sparkrules.answer

import java.util.Arrays

import sparkrules.overlap.SharedNodes
import sparkrules.version.{OrderedMatches, VersionMatcher}

/**
 * The overlap sets of a row: the groups of two or more matching rules that share a subexpression which is true in this
 * row, no group twice; larger groups first, then in the order of their members.
 *
 * Each rule that matches visits those of its nodes where it can meet another (see [[SharedNodes]]). Visits are noted
 * without a branch, as branches that nobody can predict would take most of the time. So a visited node need not be
 * true: that is asked only where several rules have met.
 */
final class Overlaps(matcher: VersionMatcher, sharing: SharedNodes) {
  private val truths = matcher.parts.indices.map { p =>
    if (sharing.complexParts(p)) matcher.parts(p).codes.truthOf(matcher.rules.parts(p).forest) else null
  }.toArray

  // Per number of a node: the last visit, from 1; or 0. All are 0 between rows.
  private val lastVisits = new Array[Int](sharing.size)
  // Per visit: the one before it of the same node, or 0, above the position of who visits.
  private var visits = new Array[Long](256)
  private var visited = new Array[Int](256) // the numbers of the nodes
  private var nodes = 0
  private var positions = new Array[Int](256) // of the members of groups, from `used` on
  private var used = 0

  // Per group: where its list starts, its size, its key; and in which order they are.
  private var starts = new Array[Int](256)
  private var groupSizes = new Array[Int](256)
  private var keys = new Array[Long](256)
  private var (order, merged) = (new Array[Int](256), new Array[Int](256))
  private var table = new Array[Int](512) // 1 + the number of a group, or 0
  private var places = new Array[Int](256) // of the groups in it

  /** How many groups there are. */
  var count = 0

  /** Group `i` has `size(i)` members, from `members(start(i))` on: ascending positions of matches. */
  def start(i: Int): Int = starts(order(i))
  def size(i: Int): Int = groupSizes(order(i))
  def members: Array[Int] = positions

  /** Finds the groups among the matches of the current row. */
  def find(matches: OrderedMatches): Unit = {
    count = 0
    if (matches.count > 1) {
      visit(matches)
      collect()
      sort()
    }
  }

  /** Notes who visits which node. */
  private def visit(matches: OrderedMatches): Unit = {
    var (position, next, count) = (0, 1, 0)
    while (position < matches.count) {
      val lists = sharing.nodes(matches.part(position))
      val rule = matches.number(position)
      val values = lists.values
      val end = lists.end(rule)
      var i = lists.start(rule)
      if (visits.length - next < end - i) reserve(next + end - i)
      while (i < end) {
        val number = values(i)
        val before = lastVisits(number)
        visits(next) = (before.toLong << 32) | position
        lastVisits(number) = next
        visited(count) = number
        count += (before - 1) >>> 31 // 1 if there was none before
        next += 1
        i += 1
      }
      position += 1
    }
    nodes = count
  }

  private def reserve(most: Int): Unit = {
    val size = Math.multiplyExact(2, most)
    visits = Arrays.copyOf(visits, size)
    visited = Arrays.copyOf(visited, size)
    positions = new Array[Int](size)
  }

  /** Makes groups of the true nodes where several meet, each once. */
  private def collect(): Unit = {
    if (nodes > starts.length) {
      starts = new Array[Int](2 * nodes)
      groupSizes = new Array[Int](2 * nodes)
      keys = new Array[Long](2 * nodes)
      order = new Array[Int](2 * nodes)
      merged = new Array[Int](2 * nodes)
      table = new Array[Int](Integer.highestOneBit(nodes) * 4)
      places = new Array[Int](2 * nodes)
    }
    used = positions.length
    var node = 0
    while (node < nodes) {
      val number = visited(node)
      val last = lastVisits(number)
      lastVisits(number) = 0
      if ((visits(last) >>> 32) != 0 && sharing.isTrue(number, matcher.parts, truths)) {
        val start = list(last)
        keep(start, used - start)
      }
      node += 1
    }
    var group = 0
    while (group < count) { table(places(group)) = 0; group += 1 }
  }

  /** Lists who has visited a node, the last first, before what is used; returns the start. */
  private def list(last: Int): Int = {
    var (visit, start) = (last, used)
    while (visit != 0) {
      start -= 1
      positions(start) = visits(visit).toInt
      visit = (visits(visit) >>> 32).toInt
    }
    start
  }

  private def keep(start: Int, size: Int): Unit = {
    val last = table.length - 1
    var place = hash(start, size) & last
    while (table(place) != 0 && !isGroup(table(place) - 1, start, size)) place = (place + 1) & last
    if (table(place) == 0) {
      starts(count) = start
      groupSizes(count) = size
      places(count) = place
      used = start
      count += 1
      table(place) = count
    }
  }

  /** Of the size and four members; in groups that are smaller these are all. */
  private def hash(start: Int, size: Int): Int = {
    val (first, second) = (positions(start), positions(start + (size >> 2)))
    val (third, last) = (positions(start + (size >> 1)), positions(start + size - 1))
    val mixed = ((first * 0x9e3779b1L + second) * 0x85ebca77L + third) * 0xc2b2ae3dL + last * 0x27d4eb2fL + size
    (mixed * 0x9e3779b97f4a7c15L >>> 40).toInt
  }

  private def isGroup(group: Int, start: Int, size: Int): Boolean = groupSizes(group) == size &&
    Arrays.equals(positions, starts(group), starts(group) + size, positions, start, start + size)

  /** By keys, which decide between most groups; where they are the same, by comparing the groups. */
  private def sort(): Unit = {
    val areFew = count <= (1 << Overlaps.NumberBits)
    var i = 0
    while (i < count) {
      order(i) = i
      if (areFew) keys(i) = (keyOf(i) << Overlaps.NumberBits) | i
      i += 1
    }
    if (!areFew) mergeSort(0, count)
    else {
      Arrays.sort(keys, 0, count)
      var from = 0
      while (from < count) {
        val key = keys(from) >>> Overlaps.NumberBits
        var until = from
        while (until < count && (keys(until) >>> Overlaps.NumberBits) == key) {
          order(until) = keys(until).toInt & ((1 << Overlaps.NumberBits) - 1)
          until += 1
        }
        if (until - from > 1) mergeSort(from, until)
        from = until
      }
    }
  }

  /** The size of a group and its first two members: what is less is before. */
  private def keyOf(group: Int): Long = {
    val size = groupSizes(group)
    if (size >= Overlaps.Large) 0
    else {
      val (first, second) = (positions(starts(group)), positions(starts(group) + 1))
      ((Overlaps.Large - size).toLong << 32) | (math.min(first, 0xffff).toLong << 16) | math.min(second, 0xffff)
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

  private def isBefore(a: Int, b: Int): Boolean = {
    val (sizeA, sizeB) = (groupSizes(a), groupSizes(b))
    if (sizeA != sizeB) sizeA > sizeB
    else Arrays.compare(positions, starts(a), starts(a) + sizeA, positions, starts(b), starts(b) + sizeB) < 0
  }
}

object Overlaps {
  private final val Few = 24
  private final val Large = (1 << 11) - 1
  private final val NumberBits = 20
}
