package sparkrules.compile

import scala.collection.mutable
import scala.collection.mutable.ArrayBuffer

import org.apache.spark.sql.catalyst.expressions.Literal

import sparkrules.bind.Slot
import sparkrules.value.{Codes, NoKeys}

/**
 * The predicates of a rule set: each a slot, and the codes for which it is true. Equal predicates have one number.
 */
private final class PredicateTable(slots: Array[Slot]) {
  private val numbers = mutable.HashMap.empty[PredicateTable.Key, Int]
  private val keys = ArrayBuffer.empty[PredicateTable.Key]
  private val chances = ArrayBuffer.empty[Double]

  def size: Int = keys.length
  def slot(predicate: Int): Int = keys(predicate).slot
  def intervals(predicate: Int): Array[Int] = keys(predicate).intervals

  /** The share of rows for which a predicate is true: counted if there are statistics, guessed otherwise. */
  def chance(predicate: Int): Double = chances(predicate)

  def of(slot: Int, intervals: Array[Int]): Int = {
    val key = new PredicateTable.Key(slot, intervals)
    numbers.getOrElseUpdate(key, {
      keys += key
      chances += chanceOf(slot, intervals)
      keys.length - 1
    })
  }

  /** The predicate that is true when both are; they have the same slot. */
  def both(a: Int, b: Int): Int = of(slot(a), Codes.intersection(intervals(a), intervals(b)))

  /** The predicate that is true when any is; they have the same slot. */
  def any(predicates: Seq[Int]): Int =
    if (predicates.length == 1) predicates.head else of(slot(predicates.head), Codes.union(predicates.map(intervals)))

  /** The predicate that is true when the other is not, for a slot that can always be computed. */
  def not(predicate: Int): Int = of(slot(predicate), Codes.complement(intervals(predicate), maxCode(predicate)))

  def areDisjoint(a: Int, b: Int): Boolean =
    if (isInterval(a) && isInterval(b)) last(a) < first(b) || last(b) < first(a)
    else Codes.intersection(intervals(a), intervals(b)).isEmpty

  def isNever(predicate: Int): Boolean = intervals(predicate).isEmpty
  def isInterval(predicate: Int): Boolean = intervals(predicate).length == 2
  def isPoint(predicate: Int): Boolean = isInterval(predicate) && first(predicate) == last(predicate)
  def isPoints(predicate: Int): Boolean =
    Codes.pairs(intervals(predicate)).forall { case (first, last) => first == last }
  def first(predicate: Int): Int = intervals(predicate)(0)
  def last(predicate: Int): Int = intervals(predicate)(1)
  def isUpTo(predicate: Int): Boolean =
    isInterval(predicate) && first(predicate) == 1 && last(predicate) < maxCode(predicate)
  def isFrom(predicate: Int): Boolean =
    isInterval(predicate) && first(predicate) >= 1 && last(predicate) == maxCode(predicate)
  private def maxCode(predicate: Int): Int = slots(slot(predicate)).keys.maxCode

  private def chanceOf(slot: Int, intervals: Array[Int]): Double = {
    val counted = slots(slot).selectivity(intervals)
    val guessed = if (slots(slot).base >= 0) PredicateTable.RarelyFound.selectivity(intervals) else None
    counted.orElse(guessed).map(_.max(PredicateTable.Least)).getOrElse {
      // A value that rules name is as likely as one between.
      val codes = slots(slot).keys.maxCode + 1.0
      val named = Codes.pairs(intervals).map { case (first, last) => if (first == last) 2 else last - first + 1 }
      named.map(_ / codes).sum.min(1.0)
    }
  }
}

private object PredicateTable {
  // What is searched for in a string is rarely there. Shares of a Boolean's codes, among them NULL, false and true.
  private val RarelyFound = Slot(Literal(null), -1, NoKeys, Some(Array(0.01, 0, 0.97, 0, 0.02, 0)))

  // A row may have what the sample lacked.
  private val Least = 1e-6

  private final class Key(val slot: Int, val intervals: Array[Int]) {
    override def hashCode: Int = 31 * java.util.Arrays.hashCode(intervals) + slot
    override def equals(other: Any): Boolean = other match {
      case key: Key => slot == key.slot && java.util.Arrays.equals(intervals, key.intervals)
      case _ => false
    }
  }
}
