package sparkrules.text

import java.util.Arrays

import scala.collection.mutable

import org.apache.spark.unsafe.Platform
import org.apache.spark.unsafe.types.UTF8String

/** Receives the keys that a scan finds. */
trait Hits {

  /** @param end the number of bytes of the string up to the end of the key */
  def hit(key: Int, end: Int): Unit
}

/**
 * Finds many keys in a string in one pass (Aho and Corasick, 1975). A scan spends much of its time in states near the
 * root, which have a row with the next state for every byte. Any other state has 16 bytes. Its children are neighbours,
 * so that its edges need only the first of them; and an only child comes next to it, because what a scan waits for is
 * memory: 10,000 keys do not stay in the cache of a core.
 *
 * @param classes per byte: its class; bytes in no key share class 0
 * @param width the number of classes, with those of the start of the string, the end of its last line and its own end
 * @param rows per state with a row, per class: the next state's row or, where it has none or a key ends, `~state`
 * @param nodes per state four numbers, side by side because they are read together: its first child; its failure, the
 *   state of its longest other suffix; how many children it has, above the class of the edge to it; the longest key
 *   that ends here or in one of its failures, or -1
 * @param suffixes per key: the longest other key that is a suffix of it, or -1
 * @param skips where no key has begun, what can be skipped; null if that is not worth a look
 */
final class Automaton private (
    private val classes: Array[Int],
    private val width: Int,
    private val rows: Array[Int],
    private val nodes: Array[Int],
    val suffixes: Array[Int],
    asksForLastLine: Boolean,
    skips: Skips)
    extends Serializable {

  private val rowed = rows.length / width

  /** Finds keys; of those that end at one place only the longest, see `suffixes`. */
  def scan(text: UTF8String, hits: Hits): Unit = {
    val length = text.numBytes
    var state = step(0, width + Automaton.StartClass)
    if (asksForLastLine) {
      val lastLine = Automaton.lastLineEnd(text)
      state = read(text, 0, lastLine, state, hits)
      report(step(state, width + Automaton.LastLineClass), lastLine, hits)
      if (lastLine < length) {
        state = read(text, lastLine, length, state, hits)
        report(step(state, width + Automaton.LastLineClass), length, hits)
      }
    } else state = read(text, 0, length, state, hits)
    report(step(state, width + Automaton.EndClass), length, hits)
  }

  private def read(text: UTF8String, from: Int, until: Int, start: Int, hits: Hits): Int = {
    val base = text.getBaseObject
    val offset = text.getBaseOffset
    val classes = this.classes
    val rows = this.rows
    var state = start
    var i = from
    while (i < until) {
      if (state < rowed) {
        var next = state * width
        while (i < until && next >= 0) {
          if (next == 0 && skips != null) i = skips.from(base, offset, i, until, classes)
          next = rows(next + classes(Platform.getByte(base, offset + i) & 0xff))
          i += 1
        }
        state = stateOf(next)
        if (next < 0) report(state, i, hits)
      } else {
        state = step(state, classes(Platform.getByte(base, offset + i) & 0xff))
        i += 1
        report(state, i, hits)
      }
    }
    state
  }

  private def step(from: Int, c: Int): Int = {
    var state = from
    while (state >= rowed) {
      var child = firstChild(state)
      val end = child + children(state)
      while (child < end && classOf(child) != c) child += 1
      if (child < end) return child
      state = failure(state)
    }
    stateOf(rows(state * width + c))
  }

  private def firstChild(state: Int): Int = nodes(4 * state)
  private def failure(state: Int): Int = nodes(4 * state + 1)
  private def children(state: Int): Int = nodes(4 * state + 2) >>> 16
  private def classOf(state: Int): Int = nodes(4 * state + 2) & 0xffff
  private def longestKey(state: Int): Int = nodes(4 * state + 3)

  private def stateOf(next: Int): Int = if (next < 0) ~next else next / width
  private def nextOf(state: Int): Int = if (state < rowed && longestKey(state) < 0) state * width else ~state

  private def report(state: Int, end: Int, hits: Hits): Unit = {
    val key = longestKey(state)
    if (key >= 0) hits.hit(key, end)
  }
}

object Automaton {

  /**
   * In keys, the characters for the start and the end of the string, and for the end of its last line, before or after
   * the terminator of that; all others are bytes.
   */
  final val Start = '\u0100'
  final val End = '\u0101'
  final val LastLineEnd = '\u0102'

  // Counted from the width.
  private final val StartClass = -3
  private final val LastLineClass = -2
  private final val EndClass = -1

  // Rows for 256 states of 64 classes, 64 KB. With 1 MB of rows, which push the other states out of the cache of a
  // core, 10,000 rules took 1.4 times as long.
  private val MostCells = 1 << 14

  /**
   * @param keys sorted, distinct and not empty
   * @param anyCase whether to read ASCII letters in lower case, as they are in the keys
   * @return the automaton, and per key as it counts them its number in `keys`
   */
  def of(keys: Array[String], anyCase: Boolean): (Automaton, Array[Int]) = {
    val classes = new Array[Int](256)
    keys.foreach(_.foreach(c => if (c < 256) classes(c.toInt) = 1))
    var used = 0
    classes.indices.foreach(byte => if (classes(byte) > 0) { used += 1; classes(byte) = used })
    if (anyCase) ('A' to 'Z').foreach(c => classes(c.toInt) = classes(Piece.lower(c.toByte).toInt))
    val width = used + 4
    val states = countStates(keys)
    val automaton = new Automaton(
      classes,
      width,
      new Array[Int](math.min(states, MostCells / width) * width),
      new Array[Int](Math.multiplyExact(4, states)),
      new Array[Int](keys.length),
      keys.exists(_.last == LastLineEnd),
      Skips.of(keys, classes))
    val order = fill(automaton, keys, states)
    reorder(automaton, states)
    (automaton, order)
  }

  /** Where the last line of a string ends, before its terminator if it has one. */
  private def lastLineEnd(text: UTF8String): Int = {
    val n = text.numBytes
    def at(i: Int): Int = if (i < n) Platform.getByte(text.getBaseObject, text.getBaseOffset + n - 1 - i) & 0xff else 0
    at(0) match {
      case '\n' => if (at(1) == '\r') n - 2 else n - 1
      case '\r' => n - 1
      case 0x85 if at(1) == 0xc2 => n - 2 // U+0085
      case 0xa8 | 0xa9 if at(1) == 0x80 && at(2) == 0xe2 => n - 3 // U+2028 and U+2029
      case _ => n
    }
  }

  /** Sorted keys share with those before them what they share with the last of these. */
  private def countStates(keys: Array[String]): Int = {
    var count = 1
    keys.indices.foreach { k =>
      val shared = if (k == 0) 0 else Arrays.mismatch(keys(k - 1).toCharArray, keys(k).toCharArray)
      count = Math.addExact(count, keys(k).length - shared)
    }
    count
  }

  /**
   * Adds the states by their depth, which is that of their keys, too. What is asked of the automaton meanwhile concerns
   * states that it has.
   */
  private def fill(automaton: Automaton, keys: Array[String], states: Int): Array[Int] = {
    import automaton._
    val order = new Array[Int](keys.length)
    // The keys below each state.
    val (from, until) = (new Array[Int](states), new Array[Int](states))
    until(0) = keys.length
    nodes(3) = -1
    var (added, levelEnd, depth, found) = (1, 1, 0, 0)
    (0 until states).foreach { state =>
      if (state == levelEnd) { levelEnd = added; depth += 1 }
      var k = from(state)
      if (depth > 0 && keys(k).length == depth) k += 1
      nodes(4 * state) = added
      while (k < until(state)) {
        val symbol = keys(k).charAt(depth)
        val c = symbol match {
          case Start => width + StartClass
          case End => width + EndClass
          case LastLineEnd => width + LastLineClass
          case byte => classes(byte.toInt)
        }
        from(added) = k
        while (k < until(state) && keys(k).charAt(depth) == symbol) k += 1
        until(added) = k
        val childFailure = if (state == 0) 0 else step(failure(state), c)
        nodes(4 * added + 1) = childFailure
        nodes(4 * added + 2) = c
        nodes(4 * added + 3) = longestKey(childFailure)
        if (keys(from(added)).length == depth + 1) {
          order(found) = from(added)
          suffixes(found) = longestKey(childFailure)
          nodes(4 * added + 3) = found
          found += 1
        }
        added += 1
      }
      nodes(4 * state + 2) |= (added - firstChild(state)) << 16
      if (state < rowed) {
        if (state > 0) System.arraycopy(rows, failure(state) * width, rows, state * width, width)
        (firstChild(state) until added).foreach(child => rows(state * width + classOf(child)) = nextOf(child))
      }
    }
    order
  }

  /** Puts the first child of a state without a row next to it, and its other children after that. */
  private def reorder(automaton: Automaton, states: Int): Unit = {
    import automaton._
    val numbers = Array.tabulate(states)(state => if (state < rowed) state else -1)
    var next = rowed
    val waiting = new mutable.ArrayDeque[Int]
    // Numbers all before it goes on with the first.
    def number(first: Int, count: Int): Unit = {
      (0 until count).foreach(i => numbers(first + i) = next + i)
      next += count
      (count - 1 to 0 by -1).foreach(i => waiting.append(first + i))
    }
    (0 until rowed).foreach { parent =>
      (firstChild(parent) until firstChild(parent) + children(parent)).filter(_ >= rowed).foreach { top =>
        number(top, 1)
        while (waiting.nonEmpty) {
          val state = waiting.removeLast()
          number(firstChild(state), children(state))
        }
      }
    }
    val before = nodes.clone()
    (0 until states).foreach { state =>
      val at = 4 * numbers(state)
      nodes(at) = if (before(4 * state + 2) >>> 16 == 0) 0 else numbers(before(4 * state))
      nodes(at + 1) = numbers(before(4 * state + 1))
      nodes(at + 2) = before(4 * state + 2)
      nodes(at + 3) = before(4 * state + 3)
    }
    rows.indices.foreach(i => if (rows(i) < 0) rows(i) = ~numbers(~rows(i)))
  }
}
