package sparkrules.compile

import scala.collection.mutable
import scala.collection.mutable.ArrayBuffer

import sparkrules.program.Forest
import sparkrules.value.IntArrays

/**
 * What is known of the nodes of a forest while it is compiled.
 *
 * @param expense what it costs to compute a slot, in the time of a simple test
 */
final class Conditions(val forest: Forest, val tests: PredicateTable, expense: Int => Double) {

  /** Per node: its test if it is a leaf, or -1. */
  val leafTests: Array[Int] = Array.tabulate(forest.size) { node =>
    if (forest.kinds(node) == Forest.Predicate && forest.slots(node) >= 0) {
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
      case Forest.Predicate =>
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
          if (kind == Forest.And) fold(chances, 1)(_ * _)
          else 1 - fold(chances, 1)((none, chance) => none * (1 - chance))
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
    case Forest.Predicate => Some(Seq(Array(leafTests(node))))
    case Forest.Or =>
      val (leaves, others) = IntArrays.partition(parts(node))(isLeaf)
      val simple: Seq[Array[Int]] =
        if (leaves.length < 2) leaves.toSeq.map(leaf => Array(leafTests(leaf)))
        else leaves.map(leafTests(_)).groupBy(tests.slot).values.map(own => Array(tests.any(own.toSeq))).toSeq
      others.foldLeft(Option(simple)) { (done, other) =>
        for (before <- done; own <- takenApart(other, most); if before.length + own.length <= most) yield before ++ own
      }
    case _ =>
      val (leaves, ors) = IntArrays.partition(parts(node))(isLeaf)
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

  private val isLeaf: Int => Boolean = forest.kinds(_) == Forest.Predicate

  /** The children, and in place of those of the same kind their own. */
  private def parts(node: Int): Array[Int] = {
    val children = forest.children(node)
    def isNested(child: Int): Boolean =
      forest.kinds(child) == forest.kinds(node) && sizes(child) <= Conditions.Most
    if (IntArrays.exists(children)(isNested)) {
      children.flatMap(child => if (isNested(child)) parts(child) else Array(child))
    } else children
  }

  /** A conjunction with one test per slot; none if that can never be true. */
  private def merged(terms: Array[Int]): Option[Array[Int]] = {
    // For the usual few terms; a thousand tests of a thousand slots are compared by a map.
    def isSame(a: Int, b: Int): Boolean = a == b || a >= 0 && b >= 0 && tests.slot(a) == tests.slot(b)
    val own =
      if (terms.length > Conditions.ManyTerms) {
        val bySlot = terms.groupBy(term => if (term >= 0) tests.slot(term) else term)
        bySlot.values.map(_.distinct.reduce(tests.both)).toArray
      } else {
        val kept = new Array[Int](terms.length)
        var count = 0
        var i = 0
        while (i < terms.length) {
          val term = terms(i)
          var same = 0
          while (same < count && !isSame(kept(same), term)) same += 1
          if (same == count) { kept(count) = term; count += 1 }
          else if (kept(same) != term) kept(same) = tests.both(kept(same), term)
          i += 1
        }
        java.util.Arrays.copyOf(kept, count)
      }
    if (IntArrays.exists(own)(term => term >= 0 && tests.isNever(term))) None else Some(own)
  }

  /** Whether two conjunctions are never true for the same row, because they need different values of a slot. */
  def areDisjoint(a: Array[Int], b: Array[Int]): Boolean = IntArrays.exists(a) { x =>
    x >= 0 && IntArrays.exists(b)(y => y >= 0 && x != y && tests.slot(x) == tests.slot(y) && tests.areDisjoint(x, y))
  }
}

object Conditions {
  private val Few = 8.0
  private val Most = 100000
  private val ManyTerms = 64
}
