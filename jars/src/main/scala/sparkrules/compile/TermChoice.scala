package sparkrules.compile

import java.util.Arrays

import scala.collection.mutable.ArrayBuffer

import sparkrules.value.Keys

/** Alternatives that are put under one term. */
private final class Group(val term: Int, val members: Array[Int])

/**
 * Chooses the term that each alternative is put under: one that is rarely true, cheap, and that many alternatives have
 * in common. An alternative's terms are used up from `starts` on.
 *
 * @param scanOf per slot: the scan that decides it, or -1
 */
private final class TermChoice(terms: Terms, alternatives: Alternatives, scanOf: Array[Int]) {
  import TermChoice._
  import alternatives.{ends, starts}
  import terms.costs.predicates
  import terms.wholes

  private val all = alternatives.terms
  // Arrays over terms have predicates first, then wholes: see `place`.
  private val size = predicates.size + wholes.length
  private val slots: Array[Int] = Array.tabulate(predicates.size)(predicates.slot)
  private val chances: Array[Double] =
    Array.tabulate(predicates.size)(predicates.chance) ++ wholes.map(terms.costs.chances(_))
  private val expenses: Array[Double] = slots.map(terms.costs.expense(_)) ++ wholes.map(terms.costs.costs(_))
  private val areExpensive: Array[Boolean] =
    (slots.map(terms.costs.expense(_)) ++ wholes.map(terms.costs.dearest(_))).map(SlotCosts.isExpensive)
  private val ways: Array[Byte] = Array.tabulate(size) { i =>
    if (i >= predicates.size || scanOf(slots(i)) >= 0 && !isFound(i)) Asked
    else if (predicates.isPoints(i)) Jumped
    else if (predicates.isUpTo(i) || predicates.isFrom(i)) Ordered
    else Asked
  }

  // How many alternatives of a block have a term, or a predicate of a slot. What is computed together counts together.
  private val counts = new Array[Int](size)
  private val sources: Array[Int] = slots.map(slot => if (scanOf(slot) >= 0) scanOf.length + scanOf(slot) else slot)
  private val sourceCounts = new Array[Int](2 * scanOf.length)

  /** Per alternative: how many predicates it is expected to cost per row, once all its terms are used up. */
  val expected = new Array[Double](alternatives.size)
  private val reached = Array.fill(alternatives.size)(1.0)

  private def place(term: Int): Int = if (term >= 0) term else predicates.size - 1 - term

  /** Whether a predicate is true when a scan finds what it looks for. */
  def isFound(predicate: Int): Boolean =
    scanOf(predicates.slot(predicate)) >= 0 && predicates.isPoint(predicate) &&
      predicates.first(predicate) == Keys.TrueCode

  /** Whether nothing of an alternative is left to test. */
  val isDone: Int => Boolean = a => starts(a) == ends(a)

  /** Each alternative with the others that are put under the same term, which is used up. */
  def divide(open: Array[Int]): Seq[Group] = {
    countAll(open, 1)
    val chosen = new Array[Long](open.length)
    var i = 0
    while (i < open.length) {
      val a = open(i)
      val best = bestTerm(a, open.length)
      val term = all(best)
      all(best) = all(starts(a))
      all(starts(a)) = term
      expected(a) += reached(a) * visit(term, 1.0, isLast = ends(a) - starts(a) == 1)
      reached(a) *= chances(place(term))
      chosen(i) = (place(term).toLong << 32) | a
      i += 1
    }
    countAll(open, -1)
    Arrays.sort(chosen)
    val groups = ArrayBuffer.empty[Group]
    var from = 0
    while (from < chosen.length) {
      var until = from + 1
      while (until < chosen.length && (chosen(until) >> 32) == (chosen(from) >> 32)) until += 1
      val members = new Array[Int](until - from)
      groups += new Group(all(starts(chosen(from).toInt)), members)
      i = from
      while (i < until) {
        members(i - from) = chosen(i).toInt
        starts(chosen(i).toInt) += 1
        i += 1
      }
      from = until
    }
    groups.toSeq
  }

  /** The terms that are left of an alternative, in the order in which it costs least to test them one by one. */
  def inOrder(a: Int): Array[Int] = {
    val order = EvaluationOrder.of(Arrays.copyOfRange(all, starts(a), ends(a)))(
      term => 1.0 + expenses(place(term)), isExpensive, term => 1.0 - chances(place(term)))
    order.foreach { term =>
      expected(a) += reached(a) * (1.0 + expenses(place(term)))
      reached(a) *= chances(place(term))
    }
    order
  }

  private def countAll(open: Array[Int], by: Int): Unit = {
    var k = 0
    while (k < open.length) {
      val end = ends(open(k))
      var i = starts(open(k))
      while (i < end) {
        counts(place(all(i))) += by
        if (all(i) >= 0) sourceCounts(sources(all(i))) += by
        i += 1
      }
      k += 1
    }
  }

  /** The cheapest term, by expectation, to put an alternative under in a block of `count`. */
  private def bestTerm(a: Int, count: Int): Int = {
    val isLast = ends(a) - starts(a) == 1
    var (best, least) = (starts(a), Double.MaxValue)
    val most = mostToPay(a)
    var i = starts(a)
    while (i < ends(a)) {
      val own = visit(all(i), 1.0, isLast)
      // Otherwise it waits, or loses whatever comes next, which takes much longer to compute.
      if (own <= most && own < least) {
        val score = own + chances(place(all(i))) * visitNext(a, i, count)
        if (score < least) { least = score; best = i }
      }
      i += 1
    }
    best
  }

  /** What a term may cost, shared with others, that need not wait for cheaper ones: see [[EvaluationOrder]]. */
  private def mostToPay(a: Int): Double = {
    var i = starts(a)
    while (i < ends(a) && !isExpensive(all(i))) i += 1
    if (i == ends(a)) Double.MaxValue
    else {
      def own(term: Int): Double = visit(term, 1.0, isLast = ends(a) - starts(a) == 1)
      EvaluationOrder.tiers(Arrays.copyOfRange(all, starts(a), ends(a)))(own, isExpensive).head.map(own).max
    }
  }

  private def isExpensive(term: Int): Boolean = areExpensive(place(term))

  /** What an alternative costs among those that have the i-th term in common with it. */
  private def visitNext(a: Int, i: Int, count: Int): Double = {
    val left = ends(a) - starts(a) - 1
    if (left == 0) 0.0
    else if (left > ManyTerms) 1.0
    else {
      val share = counts(place(all(i))).toDouble / count
      var least = Double.MaxValue
      var j = starts(a)
      while (j < ends(a)) {
        if (j != i) least = math.min(least, visit(all(j), share, isLast = left == 1))
        j += 1
      }
      least
    }
  }

  /** What it costs to get past a term, divided by the alternatives that have it in common in this share of a block. */
  private def visit(term: Int, share: Double, isLast: Boolean): Double = {
    val i = place(term)
    def among(count: Int): Double = math.max(1.0, share * count)
    val users = if (term >= 0) among(sourceCounts(sources(term))) else 1.0
    ways(i) match {
      case Jumped => (1.0 + expenses(i)) / users
      case Ordered if isLast => (2.0 + expenses(i)) / users
      case Ordered => (chances(i) / among(counts(i))) + (1.0 + expenses(i)) / users
      case _ => (1.0 + expenses(i)) / among(counts(i))
    }
  }
}

private object TermChoice {
  // How the code decides a term: by a jump that the predicates of its slot share, in their order, or by asking.
  private final val Jumped: Byte = 0
  private final val Ordered: Byte = 1
  private final val Asked: Byte = 2
  private val ManyTerms = 12
}
