package sparkrules.compile

import scala.collection.mutable
import scala.collection.mutable.ArrayBuffer

import sparkrules.program.Forest
import sparkrules.value.IntArrays

/** Takes nodes apart into conjunctions of terms. A term is a predicate or, if it is negative, a whole node. */
private final class Terms(val costs: NodeCosts) {
  import costs.{conjunctions, forest, isPredicate, predicateOf, predicates, sizes}

  /** The nodes that conjunctions refer to as a whole: term `-1 - i` is the i-th. */
  val wholes: ArrayBuffer[Int] = ArrayBuffer.empty
  private val wholeTerms = mutable.HashMap.empty[Int, Int]

  private def whole(node: Int): Int = wholeTerms.getOrElseUpdate(node, {
    wholes += node
    -wholes.length
  })

  /**
   * Conjunctions of terms, at least one of which is true when `node` is, and none otherwise. ORs are taken apart as
   * long as they stay few, so that rules can share more predicates.
   */
  def alternatives(node: Int): Seq[Array[Int]] =
    takenApart(node, Terms.Most) match {
      case Some(all) => all.flatMap(merged)
      case None => Seq(Array(whole(node)))
    }

  /** None if there would be more than `most`. */
  private def takenApart(node: Int, most: Int): Option[Seq[Array[Int]]] = forest.kinds(node) match {
    case Forest.Predicate => Some(Seq(Array(predicateOf(node))))
    case Forest.Or =>
      val (own, others) = IntArrays.partition(parts(node))(isPredicate)
      val simple: Seq[Array[Int]] =
        if (own.length < 2) own.toSeq.map(child => Array(predicateOf(child)))
        else {
          own.map(predicateOf(_)).groupBy(predicates.slot).values.map(same => Array(predicates.any(same.toSeq))).toSeq
        }
      others.foldLeft(Option(simple)) { (done, other) =>
        for (before <- done; own <- takenApart(other, most); if before.length + own.length <= most) yield before ++ own
      }.map(guarded(simple, _))
    case _ =>
      val (own, ors) = IntArrays.partition(parts(node))(isPredicate)
      val few = if (ors.length < 2) ors else ors.sortBy(conjunctions(_))
      var (count, product) = (0, 1.0)
      while (count < few.length && product * conjunctions(few(count)) <= Terms.Few) {
        product *= conjunctions(few(count))
        count += 1
      }
      // The code needs something to begin with.
      if (count == 0 && own.isEmpty && few.nonEmpty) count = 1
      val rest = own.map(predicateOf(_)) ++ few.drop(count).map(whole)
      few.take(count).foldLeft(Option(Seq(rest))) { (done, or) =>
        for (before <- done; choices <- takenApart(or, most); if before.length.toLong * choices.length <= most)
          yield before.flatMap(conjunction => choices.map(conjunction ++ _))
      }
  }

  /**
   * Alternatives of an OR, of which those that are expensive exclude the cheap ones: `f(x) > 5` of `a = 1 OR f(x) > 5`
   * becomes `NOT a = 1 AND f(x) > 5`, because where `a = 1`, the rule matches anyway.
   */
  private def guarded(simple: Seq[Array[Int]], all: Seq[Array[Int]]): Seq[Array[Int]] =
    if (!all.exists(IntArrays.exists(_)(isExpensive))) all
    else {
      // A column can always be read. What is computed may fail, and then is neither true nor not true.
      val columns = simple.map(_.head).filter(predicate => costs.expense(predicates.slot(predicate)) == 0)
      lazy val guards = columns.sortBy(-predicates.chance(_)).take(Terms.MostGuards).map(predicates.not).toArray
      all.map(conjunction => if (IntArrays.exists(conjunction)(isExpensive)) conjunction ++ guards else conjunction)
    }

  private def isExpensive(term: Int): Boolean =
    SlotCosts.isExpensive(if (term >= 0) costs.expense(predicates.slot(term)) else costs.dearest(wholes(-1 - term)))

  /** The children, and in place of those of the same kind their own. */
  private def parts(node: Int): Array[Int] = {
    val children = forest.children(node)
    def isNested(child: Int): Boolean = forest.kinds(child) == forest.kinds(node) && sizes(child) <= Terms.Most
    if (!IntArrays.exists(children)(isNested)) children
    else children.flatMap(child => if (isNested(child)) parts(child) else Array(child))
  }

  /** A conjunction with one predicate per slot; none if that can never be true. */
  private def merged(terms: Array[Int]): Option[Array[Int]] = {
    // For the usual few terms; a thousand predicates of a thousand slots are compared by a map.
    def isSame(a: Int, b: Int): Boolean = a == b || a >= 0 && b >= 0 && predicates.slot(a) == predicates.slot(b)
    val own =
      if (terms.length > Terms.ManyTerms) {
        terms.groupBy(term => if (term >= 0) predicates.slot(term) else term)
          .values.map(_.distinct.reduce(predicates.both)).toArray
      } else {
        val kept = new Array[Int](terms.length)
        var count = 0
        var i = 0
        while (i < terms.length) {
          val term = terms(i)
          var same = 0
          while (same < count && !isSame(kept(same), term)) same += 1
          if (same == count) { kept(count) = term; count += 1 }
          else if (kept(same) != term) kept(same) = predicates.both(kept(same), term)
          i += 1
        }
        java.util.Arrays.copyOf(kept, count)
      }
    if (IntArrays.exists(own)(term => term >= 0 && predicates.isNever(term))) None else Some(own)
  }

  /** Whether two conjunctions are never true for the same row, because they need different values of a slot. */
  def areDisjoint(a: Array[Int], b: Array[Int]): Boolean = IntArrays.exists(a) { x =>
    x >= 0 && IntArrays.exists(b) { y =>
      y >= 0 && x != y && predicates.slot(x) == predicates.slot(y) && predicates.areDisjoint(x, y)
    }
  }
}

private object Terms {
  private val Few = 8.0
  private val Most = 100000
  private val ManyTerms = 64
  private val MostGuards = 4
}
