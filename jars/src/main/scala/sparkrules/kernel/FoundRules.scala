package sparkrules.kernel

import java.util.Arrays

import sparkrules.program.Hidden
import sparkrules.value.SmallInts

/**
 * The rules of a program that match the current row, by their numbers.
 *
 * @param size how many rules the program has
 * @param hasRepeats whether a rule may be added twice
 * @param hidden the rules that do not take part, as [[Hidden]] gives them
 */
final class FoundRules private[kernel] (size: Int, hasRepeats: Boolean, hidden: Array[Long], codes: SlotCodes)
    extends Stamped {
  private var numbers = new Array[Int](64)
  private var found = 0
  // The first so many are in no order; those after them are in order.
  private var unsorted = 0
  // Per rule: the stamp of the last row that it was added for.
  private val stamps = new Array[Int](if (hasRepeats) size else 0)
  private val order = new SmallInts(size)
  private var merged = new Array[Int](0)
  codes.forgetWith(this)

  def count: Int = found

  /** The first `count` are the rules that match, in any order. */
  def inAnyOrder: Array[Int] = numbers

  /** The first `count` are the rules that match, in the order in which they are reported. */
  def inOrder: Array[Int] = {
    sort()
    numbers
  }

  private[kernel] def clear(): Unit = {
    found = 0
    unsorted = 0
  }

  /** Adds a rule if `isTrue`; returns 1 then, else 0. */
  private[kernel] def addIf(isTrue: Boolean, rule: Int): Int = {
    if (found == numbers.length) numbers = Arrays.copyOf(numbers, 2 * found)
    numbers(found) = rule // counts only if it is true: a branch less to predict wrongly
    val n = if (isTrue) 1 else 0
    found += n
    n
  }

  /** Adds the `n` rules at a place of the code. */
  private[kernel] def addAll(words: Array[Int], place: Int, n: Int): Unit = {
    if (found + n > numbers.length) numbers = Arrays.copyOf(numbers, 2 * (found + n))
    if (n < 8) {
      var i = 0
      while (i < n) { numbers(found + i) = words(place + i); i += 1 }
    } else System.arraycopy(words, place, numbers, found, n)
    found += n
  }

  /** Adds those of the `n` rules at a place of the code that were not added before. */
  private[kernel] def addOnce(words: Array[Int], place: Int, n: Int): Unit = {
    if (found + n > numbers.length) numbers = Arrays.copyOf(numbers, 2 * (found + n))
    val stamp = codes.stamp
    var i = 0
    while (i < n) {
      val rule = words(place + i)
      if (stamps(rule) != stamp) {
        stamps(rule) = stamp
        numbers(found) = rule
        found += 1
      }
      i += 1
    }
  }

  /** Drops hidden rules among those from `start` on. */
  private[kernel] def hideFrom(start: Int): Unit = if (hidden != null) {
    var kept = start
    var i = start
    while (i < found) {
      if (!Hidden.isHidden(hidden, numbers(i))) { numbers(kept) = numbers(i); kept += 1 }
      i += 1
    }
    found = kept
  }

  /** The code has been run: what follows is in order. */
  private[kernel] def endOfCode(): Unit = unsorted = found

  /** Adds the rules that the dense part found for a row of its chunk. */
  private[kernel] def addDense(dense: DenseRunner, position: Int): Unit = {
    val most = found + dense.most
    if (numbers.length < most) numbers = Arrays.copyOf(numbers, most)
    found = dense.collect(position, numbers, found)
    hideFrom(unsorted)
  }

  /** Keeps the first rules only, in their order. */
  private[kernel] def cut(top: Int): Unit = if (found > top) {
    sort()
    found = top
  }

  private def sort(): Unit = {
    if (unsorted > 1) order.sort(numbers, unsorted)
    if (unsorted > 0 && unsorted < found) merge()
    unsorted = 0
  }

  private def merge(): Unit = {
    if (merged.length < numbers.length) merged = new Array[Int](numbers.length)
    var (i, j, next) = (0, unsorted, 0)
    while (i < unsorted && j < found) {
      if (numbers(i) < numbers(j)) { merged(next) = numbers(i); i += 1 } else { merged(next) = numbers(j); j += 1 }
      next += 1
    }
    System.arraycopy(numbers, i, merged, next, unsorted - i)
    System.arraycopy(numbers, j, merged, next, found - j)
    val before = numbers
    numbers = merged
    merged = before
  }

  override def forget(): Unit = Arrays.fill(stamps, 0)
}
