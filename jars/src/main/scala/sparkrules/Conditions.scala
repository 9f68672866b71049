package sparkrules

import scala.collection.mutable
import scala.collection.mutable.ArrayBuffer

import org.apache.spark.sql.catalyst.expressions.Literal

/**
 * The tests that conditions are made of: a slot, and the codes for which it is true. Equal tests have one number.
 */
final class Tests(slots: Array[Slot]) {
  private val numbers = mutable.HashMap.empty[Tests.Key, Int]
  private val keys = ArrayBuffer.empty[Tests.Key]
  private val chances = ArrayBuffer.empty[Double]

  def size: Int = keys.length
  def slot(test: Int): Int = keys(test).slot
  def intervals(test: Int): Array[Int] = keys(test).intervals

  /** The share of rows for which a test is true: counted if there are statistics, guessed otherwise. */
  def chance(test: Int): Double = chances(test)

  def of(slot: Int, intervals: Array[Int]): Int = {
    val key = new Tests.Key(slot, intervals)
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
    val guessed = if (slots(slot).base >= 0) Tests.RarelyFound.selectivity(intervals) else None
    counted.orElse(guessed).map(_.max(Tests.Least)).getOrElse {
      // A value that rules name is as likely as one between.
      val codes = slots(slot).keys.maxCode + 1.0
      Codes.pairs(intervals).map { case (first, last) => (if (first == last) 2 else last - first + 1) / codes }.sum.min(1.0)
    }
  }
}

object Tests {
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

/**
 * What is known of the nodes of a forest while it is compiled.
 *
 * @param expense what it costs to compute a slot, in the time of a simple test
 */
final class Conditions(val forest: Forest, val tests: Tests, expense: Int => Double) {

  /** Per node: its test if it is a leaf, or -1. */
  val leafTests: Array[Int] = Array.tabulate(forest.size) { node =>
    if (forest.kinds(node) == Forest.Leaf && forest.slots(node) >= 0) {
      tests.of(forest.slots(node), forest.intervals(node))
    } else -1
  }

  /** Per node: how often it is true, and what it costs to find out. */
  val chances = new Array[Double](forest.size)
  val costs = new Array[Double](forest.size)

  /** Per node: its leaves if it were written out, and the conjunctions if all ORs were taken apart. */
  val sizes = new Array[Double](forest.size)
  private val conjunctions = new Array[Double](forest.size)

  forest.kinds.indices.foreach { node =>
    def fold(of: Array[Double], start: Double)(f: (Double, Double) => Double): Double = {
      var result = start
      var i = forest.children.start(node)
      while (i < forest.children.end(node)) { result = f(result, of(forest.children.values(i))); i += 1 }
      result
    }
    forest.kinds(node) match {
      case Forest.Leaf =>
        sizes(node) = 1
        conjunctions(node) = 1
        if (leafTests(node) >= 0) {
          chances(node) = tests.chance(leafTests(node))
          costs(node) = 1 + expense(forest.slots(node))
        }
      case kind =>
        sizes(node) = fold(sizes, 0)(_ + _)
        costs(node) = fold(costs, 0)(_ + _)
        conjunctions(node) = if (kind == Forest.Or) fold(conjunctions, 0)(_ + _) else fold(conjunctions, 1)(_ * _)
        chances(node) =
          if (kind == Forest.And) fold(chances, 1)(_ * _) else 1 - fold(chances, 1)((none, chance) => none * (1 - chance))
    }
  }

  /** The nodes that conjunctions refer to as a whole: term `-1 - i` is the i-th. */
  val wholes: ArrayBuffer[Int] = ArrayBuffer.empty
  private val wholeTerms = mutable.HashMap.empty[Int, Int]

  private def whole(node: Int): Int = wholeTerms.getOrElseUpdate(node, {
    wholes += node
    -wholes.length
  })

  /**
   * Conjunctions of terms, tests or `wholes`, of which one at least is true when `node` is, and none otherwise. ORs are
   * taken apart as long as they stay few, so that more conditions can be shared between rules.
   */
  def alternatives(node: Int): Seq[Array[Int]] =
    takenApart(node, Conditions.Most) match {
      case Some(all) => all.flatMap(merged)
      case None => Seq(Array(whole(node)))
    }

  /** None if there would be more than `most`. */
  private def takenApart(node: Int, most: Int): Option[Seq[Array[Int]]] = forest.kinds(node) match {
    case Forest.Leaf => Some(Seq(Array(leafTests(node))))
    case Forest.Or =>
      val (leaves, others) = parts(node).partition(forest.kinds(_) == Forest.Leaf)
      val simple: Seq[Array[Int]] =
        if (leaves.length < 2) leaves.toSeq.map(leaf => Array(leafTests(leaf)))
        else leaves.map(leafTests(_)).groupBy(tests.slot).values.map(own => Array(tests.any(own.toSeq))).toSeq
      others.foldLeft(Option(simple)) { (done, other) =>
        for (before <- done; own <- takenApart(other, most); if before.length + own.length <= most) yield before ++ own
      }
    case _ =>
      val (leaves, ors) = parts(node).partition(forest.kinds(_) == Forest.Leaf)
      val few = if (ors.length < 2) ors else ors.sortBy(conjunctions(_))
      var (count, product) = (0, 1.0)
      while (count < few.length && product * conjunctions(few(count)) <= Conditions.Few) {
        product *= conjunctions(few(count))
        count += 1
      }
      // Something has to be watched for.
      if (count == 0 && leaves.isEmpty && few.nonEmpty) count = 1
      val rest = leaves.map(leafTests(_)) ++ few.drop(count).map(whole)
      few.take(count).foldLeft(Option(Seq(rest))) { (done, or) =>
        for (before <- done; choices <- takenApart(or, most); if before.length.toLong * choices.length <= most)
          yield before.flatMap(conjunction => choices.map(conjunction ++ _))
      }
  }

  /** The children, and in place of those of the same kind their own. */
  private def parts(node: Int): Array[Int] = {
    val children = forest.children(node)
    def isNested(child: Int): Boolean =
      forest.kinds(child) == forest.kinds(node) && sizes(child) <= Conditions.Most
    if (children.exists(isNested)) children.flatMap(child => if (isNested(child)) parts(child) else Array(child))
    else children
  }

  /** A conjunction with one test per slot; none if that can never be true. */
  private def merged(terms: Array[Int]): Option[Array[Int]] = {
    // For the usual few terms; a thousand tests of a thousand slots are compared by a map.
    def isSame(a: Int, b: Int): Boolean = a == b || a >= 0 && b >= 0 && tests.slot(a) == tests.slot(b)
    val own =
      if (terms.length > Conditions.ManyTerms) {
        terms.groupBy(term => if (term >= 0) tests.slot(term) else term).values.map(_.distinct.reduce(tests.both)).toArray
      } else {
        val kept = new Array[Int](terms.length)
        var count = 0
        terms.foreach { term =>
          var same = 0
          while (same < count && !isSame(kept(same), term)) same += 1
          if (same == count) { kept(count) = term; count += 1 }
          else if (kept(same) != term) kept(same) = tests.both(kept(same), term)
        }
        java.util.Arrays.copyOf(kept, count)
      }
    if (own.exists(term => term >= 0 && tests.isNever(term))) None else Some(own)
  }

  /** Whether two conjunctions are never true for the same row, because they need different values of a slot. */
  def areDisjoint(a: Array[Int], b: Array[Int]): Boolean = a.exists { x =>
    x >= 0 && b.exists(y => y >= 0 && x != y && tests.slot(x) == tests.slot(y) && tests.areDisjoint(x, y))
  }
}

object Conditions {
  private val Few = 8.0
  private val Most = 100000
  private val ManyTerms = 64
}
