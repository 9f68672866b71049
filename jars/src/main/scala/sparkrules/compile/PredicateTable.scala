package sparkrules.compile

import scala.collection.mutable
import scala.collection.mutable.ArrayBuffer

import org.apache.spark.sql.catalyst.expressions.Literal

import sparkrules.bind.Slot
import sparkrules.value.{Codes, NoKeys}

/**
 * The tests that conditions are made of: a slot, and the codes for which it is true. Equal tests have one number.
 */
final class PredicateTable(slots: Array[Slot]) {
  private val numbers = mutable.HashMap.empty[PredicateTable.Key, Int]
  private val keys = ArrayBuffer.empty[PredicateTable.Key]
  private val chances = ArrayBuffer.empty[Double]

  def size: Int = keys.length
  def slot(test: Int): Int = keys(test).slot
  def intervals(test: Int): Array[Int] = keys(test).intervals

  /** The share of rows for which a test is true: counted if there are statistics, guessed otherwise. */
  def chance(test: Int): Double = chances(test)

  def of(slot: Int, intervals: Array[Int]): Int = {
    val key = new PredicateTable.Key(slot, intervals)
    numbers.getOrElseUpdate(key, {
      keys += key
      chances += chanceOf(slot, intervals)
      keys.length - 1
    })
  }

  /** The one test that is true when both are; they have the same slot. */
  def both(a: Int, b: Int): Int = of(slot(a), Codes.intersection(intervals(a), intervals(b)))

  /** The one test that is true when any is; they have the same slot. */
  def any(tests: Seq[Int]): Int =
    if (tests.length == 1) tests.head else of(slot(tests.head), Codes.union(tests.map(intervals)))

  def areDisjoint(a: Int, b: Int): Boolean =
    if (isInterval(a) && isInterval(b)) last(a) < first(b) || last(b) < first(a)
    else Codes.intersection(intervals(a), intervals(b)).isEmpty

  def isNever(test: Int): Boolean = intervals(test).isEmpty
  def isInterval(test: Int): Boolean = intervals(test).length == 2
  def isPoint(test: Int): Boolean = isInterval(test) && first(test) == last(test)
  def isPoints(test: Int): Boolean = Codes.pairs(intervals(test)).forall { case (first, last) => first == last }
  def first(test: Int): Int = intervals(test)(0)
  def last(test: Int): Int = intervals(test)(1)
  def isUpTo(test: Int): Boolean = isInterval(test) && first(test) == 1 && last(test) < maxCode(test)
  def isFrom(test: Int): Boolean = isInterval(test) && first(test) >= 1 && last(test) == maxCode(test)
  private def maxCode(test: Int): Int = slots(slot(test)).keys.maxCode

  private def chanceOf(slot: Int, intervals: Array[Int]): Double = {
    val counted = slots(slot).selectivity(intervals)
    val guessed = if (slots(slot).base >= 0) PredicateTable.RarelyFound.selectivity(intervals) else None
    counted.orElse(guessed).map(_.max(PredicateTable.Least)).getOrElse {
      // A value that rules name is as likely as one between.
      val codes = slots(slot).keys.maxCode + 1.0
      val parts = Codes.pairs(intervals).map { case (first, last) => if (first == last) 2 else last - first + 1 }
      parts.map(_ / codes).sum.min(1.0)
    }
  }
}

object PredicateTable {
  // What is looked for in a text is rarely there. Shares of the codes of a Boolean: NULL, false and true among them.
  private val RarelyFound = Slot(Literal(null), -1, NoKeys, Some(Array(0.01, 0, 0.97, 0, 0.02, 0)))

  // What a sample never saw may be seen.
  private val Least = 1e-6

  private final class Key(val slot: Int, val intervals: Array[Int]) {
    override def hashCode: Int = 31 * java.util.Arrays.hashCode(intervals) + slot
    override def equals(other: Any): Boolean = other match {
      case key: Key => slot == key.slot && java.util.Arrays.equals(intervals, key.intervals)
      case _ => false
    }
  }
}
