package sparkrules.version

import java.util.Arrays

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeArrayData
import org.apache.spark.unsafe.types.UTF8String

import sparkrules.kernel.Runner
import sparkrules.program.IdBuffer
import sparkrules.value.SmallInts

/**
 * The rules of a version that match a row, in no order.
 *
 * @param order that of all rules; null if there is one part
 * @param top how many matches are wanted, the first in their order
 */
final class RowMatches private[version] (parts: Array[Runner], order: Order, top: Int) {
  private val ordered = new OrderedMatches(parts, order)
  private var current: InternalRow = _
  private var found = 0
  private var isOrdered = false

  private[version] def start(row: InternalRow): Unit = {
    current = row
    isOrdered = false
    found = 0
    var p = 0
    while (p < parts.length) { found += parts(p).found.count; p += 1 }
  }

  def row: InternalRow = current

  def count: Int = math.min(found, top)

  /** The same matches in the order in which they are reported. */
  def inOrder: OrderedMatches = {
    if (!isOrdered) {
      isOrdered = true
      ordered.sort(found, count)
    }
    ordered
  }

  /** Adds the matches to those of each part's rules. */
  def countInto(counts: Array[Array[Long]]): Unit =
    if (found > top) {
      val own = inOrder
      (0 until count).foreach(i => counts(own.part(i))(own.number(i)) += 1)
    } else {
      var p = 0
      while (p < parts.length) {
        val (numbers, end, own) = (parts(p).found.inAnyOrder, parts(p).found.count, counts(p))
        var i = 0
        while (i < end) { own(numbers(i)) += 1; i += 1 }
        p += 1
      }
    }
}

/** The rules of a version that match a row, numbered by their positions in the order in which they are reported. */
final class OrderedMatches private[version] (parts: Array[Runner], order: Order) {
  private val isOne = order == null
  private val ids = parts.map(_.program.rules.ids)

  // One part: the numbers of its rules. Several: a number of the main part, or -1 less that of another's among all that
  // are not of it. So the main part's, which are most, are copied as they are.
  private var found = new Array[Int](16)
  private var keys = new Array[Long](16)
  private var wanted = 0

  /** Puts the `all` matches of the current row in order; the first `most` are wanted. */
  private[version] def sort(all: Int, most: Int): Unit = {
    wanted = most
    if (isOne) found = parts(0).found.inOrder else merge(all)
  }

  /** Sorts the largest part's matches by themselves, and those of the others, which are few, together. */
  private def merge(all: Int): Unit = {
    val main = parts(order.main).found
    if (found.length < all) found = new Array[Int](2 * all)
    if (keys.length < all - main.count) keys = new Array[Long](2 * (all - main.count))
    var others = 0
    var p = 0
    while (p < parts.length) {
      if (p != order.main) {
        val (numbers, count) = (parts(p).found.inAnyOrder, parts(p).found.count)
        var i = 0
        while (i < count) { keys(others) = order.key(p, numbers(i)); others += 1; i += 1 }
      }
      p += 1
    }
    if (others > 1) Arrays.sort(keys, 0, others)
    val numbers = main.inOrder
    var (i, j) = (0, 0)
    while (j < others) {
      val before = SmallInts.firstFrom(numbers, i, main.count, Order.placeOf(keys(j)))
      System.arraycopy(numbers, i, found, i + j, before - i)
      i = before
      found(i + j) = -1 - Order.otherOf(keys(j))
      j += 1
    }
    System.arraycopy(numbers, i, found, i + j, main.count - i)
  }

  def count: Int = wanted

  def part(position: Int): Int = if (isOne) 0 else order.part(found(position))

  /** The number of a rule in the program of its part. */
  def number(position: Int): Int = if (isOne) found(position) else order.rule(found(position))

  def id(position: Int): UTF8String = ids(part(position))(number(position))

  def priority(position: Int): Int = parts(part(position)).program.rules.priorities(number(position))

  /** The ids of all matches. */
  def idArray(buffer: IdBuffer): UnsafeArrayData = idsOf(found, count, buffer)

  /** The ids of the matches at these positions. */
  def idArray(positions: Array[Int], buffer: IdBuffer): UnsafeArrayData =
    idsOf(positions.map(found(_)), positions.length, buffer)

  private def idsOf(matches: Array[Int], count: Int, buffer: IdBuffer): UnsafeArrayData =
    if (isOne) ids(0).array(matches, count, buffer) else IdsOfParts.array(ids, order, matches, count, buffer)
}
