package sparkrules.compile

import java.util.Arrays

import scala.collection.mutable
import scala.collection.mutable.ArrayBuffer

import sparkrules.program.Op
import sparkrules.value.{Codes, IntArrays}

/**
 * Writes the code of a program. At each place, every alternative that could still be true is put under one of its
 * remaining terms (see [[TermChoice]]). The code of all that are under one term follows it, divided again in the same
 * way. So the code is a trie of shared predicates, and the cost of a row depends on what is true of it rather than on
 * the number of rules.
 *
 * @param scanOf per slot: the scan that decides it, or -1
 * @param out what the code is added to
 */
private final class Assembler(terms: Terms, val alternatives: Alternatives, scanOf: Array[Int], out: CodeWriter) {
  import Assembler._
  import alternatives.{repeats, rules}
  import out.{hole, jump, patch, put}
  import terms.costs.predicates

  private val code = out.words
  private val necessary = EarlyRejection.of(terms, alternatives) // before their terms are used up
  private val choice = new TermChoice(terms, alternatives, scanOf)
  private val branches = new Branches(terms, out)
  import branches.goOnIf
  import choice.{isDone, isFound}

  def assemble(): Unit = {
    block(Array.range(0, alternatives.size), 0)
    put(Op.Return)
  }

  /** Per alternative: how many predicates it is expected to cost per row, once it is assembled. */
  def expected: Array[Double] = choice.expected

  /** Code that ends here for rows which no alternative can be true for, where the groups would ask several slots. */
  private def rejectEarly(groups: Seq[Group]): ArrayBuffer[Int] = {
    val exits = ArrayBuffer.empty[Int]
    val asked = groups.map(g => if (g.term < 0) -1 else predicates.slot(g.term)).distinct
    if (asked.length > 1) necessary.foreach(goOnIf(_, exits))
    exits
  }

  /** The code for alternatives that could all be true. */
  private def block(open: Array[Int], depth: Int): Unit = {
    val (done, rest) = IntArrays.partition(open)(isDone)
    emitAll(done)
    if (rest.length == 1 || depth == Deepest) rest.foreach(single)
    else if (rest.nonEmpty) {
      val groups = choice.divide(rest)
      val rejected = if (depth == 0) rejectEarly(groups) else ArrayBuffer.empty[Int]
      val (wholeGroups, ofPredicates) = groups.partition(_.term < 0)
      val (ofTexts, ofSlots) = ofPredicates.partition(g => isFound(g.term))
      ofSlots.groupBy(g => predicates.slot(g.term)).toSeq.sortBy(_._1).foreach { case (slot, own) =>
        ofSlot(slot, own, depth)
      }
      ofTexts.groupBy(g => scanOf(predicates.slot(g.term))).toSeq.sortBy(_._1).foreach { case (scan, own) =>
        if (own.length == 1) gate(own.head, depth) else ofScan(scan, own, depth)
      }
      wholeGroups.foreach(gate(_, depth))
      patch(rejected)
    }
  }

  /** The groups whose terms are predicates of one slot. */
  private def ofSlot(slot: Int, groups: Seq[Group], depth: Int): Unit = {
    val (points, rest) = groups.partition(g => predicates.isPoints(g.term))
    val (upTo, notUpTo) = rest.partition(g => predicates.isUpTo(g.term))
    val (from, twoSided) = notUpTo.partition(g => predicates.isFrom(g.term))
    val (intervals, sets) = twoSided.partition(g => predicates.isInterval(g.term))
    if (points.length == 1 && predicates.isPoint(points.head.term)) gate(points.head, depth)
    else switches(slot, points, depth)
    def first(group: Group): Int = predicates.first(group.term)
    def last(group: Group): Int = predicates.last(group.term)
    ordered(slot, upTo.sortBy(-last(_)), last, Op.UpTo, Op.UpToOnce, depth)
    ordered(slot, from.sortBy(first), first, Op.From, Op.FromOnce, depth)
    if (intervals.length < ManyIntervals) intervals.foreach(gate(_, depth)) else switches(slot, intervals, depth)
    sets.foreach(gate(_, depth))
  }

  private def ofScan(scan: Int, groups: Seq[Group], depth: Int): Unit = {
    val sorted = groups.sortBy(g => predicates.slot(g.term))
    put(Op.Scan, scan)
    code += sorted.length
    sorted.foreach(g => code += predicates.slot(g.term))
    val targets = code.length
    sorted.foreach(_ => code += 0)
    val over = jump()
    sorted.zipWithIndex.foreach { case (group, i) =>
      code(targets + i) = code.length
      block(group.members, depth + 1)
      put(Op.Return)
    }
    patch(Seq(over))
  }

  private def gate(group: Group, depth: Int): Unit =
    if (group.members.length == 1 && isFinished(group)) {
      emitIf(group.term, group.members(0))
    } else {
      val otherwise = ArrayBuffer.empty[Int]
      goOnIf(group.term, otherwise)
      block(group.members, depth + 1)
      patch(otherwise)
    }

  /** Code for an alternative of which one term is left. */
  private def emitIf(term: Int, a: Int): Unit =
    if (term >= 0 && predicates.isInterval(term) && rules(a).length == 1 && !repeats(a)) {
      branches.emitIf(term, rules(a)(0))
    } else {
      val otherwise = ArrayBuffer.empty[Int]
      goOnIf(term, otherwise)
      emitAll(Array(a))
      patch(otherwise)
    }

  /** Predicates that bound a value on one side, in such an order that the first that fails ends them. */
  private def ordered(slot: Int, groups: Seq[Group], bound: Group => Int, op: Int, opOnce: Int, depth: Int): Unit = {
    val (finished, open) = groups.partition(g => isFinished(g))
    if (finished.length == 1) gate(finished.head, depth)
    else {
      list(finished, bound, slot, op, once = false)
      list(finished, bound, slot, opOnce, once = true)
    }
    val exits = ArrayBuffer.empty[Int]
    open.foreach { group =>
      goOnIf(group.term, exits)
      block(group.members, depth + 1)
    }
    patch(exits)
  }

  private def isFinished(group: Group): Boolean = group.members.forall(isDone)

  private def list(finished: Seq[Group], bound: Group => Int, slot: Int, op: Int, once: Boolean): Unit = {
    var count = 0
    foreachRules(finished, once)((_, own) => count += own.length)
    if (count > 0) {
      put(op, slot)
      code += count
      val (values, all) = (new Array[Int](count), new Array[Int](count))
      var next = 0
      foreachRules(finished, once) { (group, own) =>
        Arrays.fill(values, next, next + own.length, bound(group))
        System.arraycopy(own, 0, all, next, own.length)
        next += own.length
      }
      code ++= values
      code ++= all
    }
  }

  private def foreachRules(groups: Seq[Group], once: Boolean)(use: (Group, Array[Int]) => Unit): Unit =
    groups.foreach { group =>
      var i = 0
      while (i < group.members.length) {
        val a = group.members(i)
        if (repeats(a) == once) use(group, rules(a))
        i += 1
      }
    }

  /**
   * A jump to what is true for the slot's code. An interval consists of a few aligned ones, of lengths that are powers
   * of two; for each length there is a jump of its own, by the code without its lowest bits.
   */
  private def switches(slot: Int, groups: Seq[Group], depth: Int): Unit = if (groups.nonEmpty) {
    val pieces = groups.flatMap(g => Codes.pairs(predicates.intervals(g.term)).flatMap(aligned).map(_ -> g))
    val users = pieces.groupMap(_._1)(_._2)
    // Code that is jumped to from one place, or that no other shares its places with, needs no way back.
    val alone = groups.filter { g =>
      val own = Codes.pairs(predicates.intervals(g.term)).flatMap(aligned).toSeq
      own.length == 1 || own.forall(users(_).length == 1) && own.forall(_._1 == own.head._1)
    }.toSet
    val called = groups.filterNot(alone)
    val finished = called.filter(g => g.members.length <= FewIds && isFinished(g)).toSet
    val bodies = mutable.HashMap.empty[Group, Int]
    val outOfLine = called.filterNot(finished)
    if (outOfLine.nonEmpty) {
      val over = jump()
      outOfLine.foreach { g =>
        bodies(g) = code.length
        block(g.members, depth + 1)
        put(Op.Return)
      }
      patch(Seq(over))
    }
    pieces.groupBy(_._1._1).toSeq.sortBy(_._1).foreach { case (shift, own) =>
      switch(slot, shift, own.map { case ((_, place), g) => place -> g }, g => {
        if (bodies.contains(g)) { put(Op.Call); code += bodies(g) }
        else if (finished(g)) emitAll(g.members)
        else block(g.members, depth + 1)
      })
    }
  }

  private def switch(slot: Int, shift: Int, targets: Seq[(Int, Group)], body: Group => Unit): Unit = {
    val byPlace = targets.groupMap(_._1)(_._2).toSeq.sortBy(_._1)
    val (first, last) = (byPlace.head._1, byPlace.last._1)
    val isDense = last - first + 1L <= 4L * byPlace.length + 8
    put(if (isDense) Op.Switch else Op.Search, slot)
    code += shift
    if (isDense) code += first
    val entries = if (isDense) last - first + 1 else byPlace.length
    code += entries
    val next = hole()
    val table = if (isDense) code.length else code.length + entries
    if (!isDense) byPlace.foreach { case (place, _) => code += place }
    (0 until entries).foreach(_ => code += 0)
    val exits = ArrayBuffer(next)
    val known = mutable.HashMap.empty[Seq[Group], Int]
    byPlace.zipWithIndex.foreach { case ((place, groups), i) =>
      val target = known.getOrElseUpdate(groups, {
        val start = code.length
        groups.foreach(body)
        exits += jump()
        start
      })
      code(table + (if (isDense) place - first else i)) = target
    }
    patch(exits)
    if (isDense) (table until table + entries).foreach(i => if (code(i) == 0) code(i) = code(next))
  }

  /** One alternative by itself: its terms in the best order, then the rules that they make true. */
  private def single(a: Int): Unit = {
    val otherwise = ArrayBuffer.empty[Int]
    val order = choice.inOrder(a)
    order.init.foreach(goOnIf(_, otherwise))
    emitIf(order.last, a)
    patch(otherwise)
  }

  private def emitAll(finished: Array[Int]): Unit = if (finished.nonEmpty) {
    val (repeated, others) = IntArrays.partition(finished)(repeats(_))
    emit(Op.Emit, others)
    emit(Op.EmitOnce, repeated)
  }

  private def emit(op: Int, finished: Array[Int]): Unit = if (finished.nonEmpty) {
    val all = if (finished.length == 1) rules(finished(0)) else sorted(finished)
    put(op)
    code += all.length
    code ++= all
  }

  private def sorted(finished: Array[Int]): Array[Int] = {
    var (count, i) = (0, 0)
    while (i < finished.length) { count += rules(finished(i)).length; i += 1 }
    val all = new Array[Int](count)
    var next = 0
    i = 0
    while (i < finished.length) {
      val own = rules(finished(i))
      System.arraycopy(own, 0, all, next, own.length)
      next += own.length
      i += 1
    }
    Arrays.sort(all)
    all
  }
}

private object Assembler {
  private val Deepest = 64
  private val ManyIntervals = 8
  private val FewIds = 4

  /** The interval as aligned pieces: the binary logarithm of their length, and their place in units of it. */
  private def aligned(interval: (Int, Int)): Iterator[(Int, Int)] = new Iterator[(Int, Int)] {
    private var next0 = interval._1
    def hasNext: Boolean = next0 <= interval._2
    def next(): (Int, Int) = {
      var shift = if (next0 == 0) 30 else Integer.numberOfTrailingZeros(next0)
      while (next0 + (1L << shift) - 1 > interval._2) shift -= 1
      val piece = (shift, next0 >> shift)
      next0 += 1 << shift
      piece
    }
  }
}
