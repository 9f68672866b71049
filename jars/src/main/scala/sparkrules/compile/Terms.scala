package sparkrules.compile

import java.util.Arrays

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
  def alternatives(node: Int): Array[Array[Int]] = {
    val all = takenApart(node, Terms.Most)
    if (all == null) Array(Array(whole(node)))
    else {
      val kept = new Array[Array[Int]](all.length)
      var (count, i) = (0, 0)
      while (i < all.length) {
        val own = merged(all(i))
        if (own != null) { kept(count) = own; count += 1 }
        i += 1
      }
      if (count == kept.length) kept else Arrays.copyOf(kept, count)
    }
  }

  /** Null if there would be more than `most`. */
  private def takenApart(node: Int, most: Int): Array[Array[Int]] = forest.kinds(node) match {
    case Forest.Predicate => Array(Array(predicateOf(node)))
    case Forest.Or => orTakenApart(node, most)
    case _ => andTakenApart(node, most)
  }

  private def orTakenApart(node: Int, most: Int): Array[Array[Int]] = {
    val (own, others) = divided(node)
    val simple: Array[Array[Int]] =
      if (own.length < 2) own.map(child => Array(predicateOf(child)))
      else {
        own.map(predicateOf(_)).groupBy(predicates.slot).values.map(same => Array(predicates.any(same.toSeq))).toArray
      }
    val found = new Array[Array[Array[Int]]](others.length)
    var (count, i) = (simple.length, 0)
    while (i < others.length && count <= most) {
      found(i) = if (isConjunction(others(i))) conjunctionOf(others(i)) else takenApart(others(i), most)
      count = if (found(i) == null) Int.MaxValue else count + found(i).length
      i += 1
    }
    if (count > most && others.nonEmpty) null
    else {
      val all = Arrays.copyOf(simple, count)
      var next = simple.length
      found.foreach { part => System.arraycopy(part, 0, all, next, part.length); next += part.length }
      guarded(node, simple, all)
    }
  }

  private def andTakenApart(node: Int, most: Int): Array[Array[Int]] = {
    val (own, ors) = divided(node)
    val few = if (ors.length < 2) ors else ors.sortBy(conjunctions(_))
    var (count, product) = (0, 1.0)
    while (count < few.length && product * conjunctions(few(count)) <= Terms.Few) {
      product *= conjunctions(few(count))
      count += 1
    }
    // The code needs something to begin with.
    if (count == 0 && own.isEmpty && few.nonEmpty) count = 1
    val rest = new Array[Int](own.length + few.length - count)
    var i = 0
    while (i < own.length) { rest(i) = predicateOf(own(i)); i += 1 }
    while (i < rest.length) { rest(i) = whole(few(i - own.length + count)); i += 1 }
    var all = Array(rest)
    i = 0
    while (i < count && all != null) {
      val choices = takenApart(few(i), most)
      all = if (choices == null || all.length.toLong * choices.length > most) null else Terms.product(all, choices)
      i += 1
    }
    all
  }

  // Per node that is a conjunction of predicates: what it is taken apart into, once it was asked for. Many ORs have it.
  private val knownConjunctions = new Array[Array[Array[Int]]](forest.size)

  private def isConjunction(node: Int): Boolean =
    forest.kinds(node) == Forest.And && conjunctions(node) == 1.0 && sizes(node) == forest.children.length(node)

  private def conjunctionOf(node: Int): Array[Array[Int]] = {
    if (knownConjunctions(node) == null) knownConjunctions(node) = andTakenApart(node, Terms.Most)
    knownConjunctions(node)
  }

  /**
   * Alternatives of an OR, of which those that are expensive exclude the cheap ones: `f(x) > 5` of `a = 1 OR f(x) > 5`
   * becomes `NOT a = 1 AND f(x) > 5`, because where `a = 1`, the rule matches anyway.
   */
  private def guarded(node: Int, simple: Array[Array[Int]], all: Array[Array[Int]]): Array[Array[Int]] =
    if (!SlotCosts.isExpensive(costs.dearest(node))) all
    else {
      // A column can always be read. What is computed may fail, and then is neither true nor not true.
      val columns = simple.map(_.head).filter(predicate => costs.expense(predicates.slot(predicate)) == 0)
      lazy val guards = columns.sortBy(-predicates.chance(_)).take(Terms.MostGuards).map(predicates.not)
      all.map(conjunction => if (IntArrays.exists(conjunction)(isExpensive)) conjunction ++ guards else conjunction)
    }

  private def isExpensive(term: Int): Boolean =
    SlotCosts.isExpensive(if (term >= 0) costs.expense(predicates.slot(term)) else costs.dearest(wholes(-1 - term)))

  /** The children that are predicates, and the others; in place of those of the same kind their own. */
  private def divided(node: Int): (Array[Int], Array[Int]) = {
    import forest.children.{end, start, values}
    var (own, i) = (0, start(node))
    while (i < end(node) && !isNested(values(i), node)) {
      if (isPredicate(values(i))) own += 1
      i += 1
    }
    if (i < end(node)) IntArrays.partition(parts(node))(isPredicate)
    else {
      val (those, others) = (new Array[Int](own), new Array[Int](end(node) - start(node) - own))
      var (thoseCount, othersCount) = (0, 0)
      i = start(node)
      while (i < end(node)) {
        if (isPredicate(values(i))) { those(thoseCount) = values(i); thoseCount += 1 }
        else { others(othersCount) = values(i); othersCount += 1 }
        i += 1
      }
      (those, others)
    }
  }

  private def parts(node: Int): Array[Int] =
    forest.children(node).flatMap(child => if (isNested(child, node)) parts(child) else Array(child))

  private def isNested(child: Int, node: Int): Boolean =
    forest.kinds(child) == forest.kinds(node) && sizes(child) <= Terms.Most

  // For the usual few terms; a thousand predicates of a thousand slots are compared by a map.
  private val kept = new Array[Int](Terms.ManyTerms)

  /** A conjunction with one predicate per slot, the same if it has that already; null if that can never be true. */
  private def merged(terms: Array[Int]): Array[Int] = {
    val own =
      if (terms.length > Terms.ManyTerms) {
        terms.groupBy(term => if (term >= 0) predicates.slot(term) else term)
          .values.map(_.distinct.reduce(predicates.both)).toArray
      } else {
        var (count, i, isSame) = (0, 0, true)
        while (i < terms.length) {
          val term = terms(i)
          var same = 0
          while (same < count && !areOfOne(kept(same), term)) same += 1
          if (same == count) { kept(count) = term; count += 1 }
          else {
            isSame = false
            if (kept(same) != term) kept(same) = predicates.both(kept(same), term)
          }
          i += 1
        }
        if (isSame) terms else Arrays.copyOf(kept, count)
      }
    var i = 0
    while (i < own.length && (own(i) < 0 || !predicates.isNever(own(i)))) i += 1
    if (i < own.length) null else own
  }

  private def areOfOne(a: Int, b: Int): Boolean =
    a == b || a >= 0 && b >= 0 && predicates.slot(a) == predicates.slot(b)

  /** Whether two conjunctions are never true for the same row, because they need different values of a slot. */
  def areDisjoint(a: Array[Int], b: Array[Int]): Boolean = {
    var (found, i) = (false, 0)
    while (i < a.length && !found) {
      val x = a(i)
      var j = 0
      while (x >= 0 && j < b.length && !found) {
        val y = b(j)
        found = y >= 0 && x != y && predicates.slot(x) == predicates.slot(y) && predicates.areDisjoint(x, y)
        j += 1
      }
      i += 1
    }
    found
  }
}

private object Terms {
  private val Few = 8.0
  private val Most = 100000
  private val ManyTerms = 64
  private val MostGuards = 4

  /** Each conjunction with each of the choices. */
  private def product(all: Array[Array[Int]], choices: Array[Array[Int]]): Array[Array[Int]] = {
    val both = new Array[Array[Int]](all.length * choices.length)
    var i = 0
    while (i < both.length) {
      val (own, choice) = (all(i / choices.length), choices(i % choices.length))
      val joined = Arrays.copyOf(own, own.length + choice.length)
      System.arraycopy(choice, 0, joined, own.length, choice.length)
      both(i) = joined
      i += 1
    }
    both
  }
}
