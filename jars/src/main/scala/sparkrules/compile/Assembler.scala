package sparkrules.compile

import java.util.Arrays

import scala.collection.mutable
import scala.collection.mutable.ArrayBuffer

import sparkrules.program.{Forest, Op}
import sparkrules.value.{Codes, IntArrays, IntBuffer, Keys}

/** The code of a program while it is written; and what it refers to by number: tests that are sets, and nodes. */
final class Code {
  val words = new IntBuffer
  val setNumbers = mutable.LinkedHashMap.empty[Int, Int]
  val sharedNodes = mutable.LinkedHashMap.empty[Int, Int]
}

/**
 * Writes the code of a program. At each place, every alternative that could still be true is put under one of the tests
 * that it has left: a test that is rarely true, and that many have in common. All that are under one test follow it,
 * and are divided again in the same way. So the code is a trie of shared conditions, and what a row costs is what is
 * true of it rather than how many rules there are.
 *
 * @param scanOf per slot: the scan that decides it, or -1
 * @param expense what it costs to compute a slot, in the time of a simple test
 * @param out what the code is added to
 */
final class Assembler(
    conditions: Conditions, val alternatives: Alternatives, scanOf: Array[Int], expense: Int => Double, out: Code) {
  import Assembler._
  import alternatives._
  import conditions.{forest, tests, wholes}

  import out.{setNumbers, sharedNodes}
  private val code = out.words

  // Of tests first, then of wholes: see `place`. How many alternatives of a block have a term, or a test of a slot.
  private val counts = new Array[Int](tests.size + wholes.length)
  private val testSlots: Array[Int] = Array.tabulate(tests.size)(tests.slot)
  // What is computed together counts together.
  private val places: Array[Int] = testSlots.map(slot => if (scanOf(slot) >= 0) scanOf.length + scanOf(slot) else slot)
  private val placeCounts = new Array[Int](2 * scanOf.length)
  private val chances: Array[Double] = Array.tabulate(tests.size)(tests.chance) ++ wholes.map(conditions.chances(_))
  private val expenses: Array[Double] =
    testSlots.map(expense) ++ wholes.map(conditions.costs(_))
  private val kinds: Array[Byte] = Array.tabulate(counts.length) { i =>
    if (i >= tests.size || scanOf(testSlots(i)) >= 0 && !isFound(i)) Asked
    else if (tests.isPoints(i)) Jumped
    else if (tests.isUpTo(i) || tests.isFrom(i)) Ordered
    else Asked
  }

  private def place(term: Int): Int = if (term >= 0) term else tests.size - 1 - term

  def assemble(): Unit = {
    block(Array.range(0, size), 0)
    put(Op.Return)
  }

  /** Per alternative: how many tests it is expected to cost per row, once it is assembled. */
  val expected = new Array[Double](size)
  private val reached = Array.fill(size)(1.0)

  /** The code for alternatives of which nothing else is known. */
  private def block(open: Array[Int], depth: Int): Unit = {
    val (done, rest) = IntArrays.partition(open)(isDone)
    emitAll(done)
    if (rest.length == 1 || depth == Deepest) rest.foreach(single)
    else if (rest.nonEmpty) {
      val groups = divide(rest)
      val (wholeGroups, ofTests) = groups.partition(_.term < 0)
      val (ofTexts, ofSlots) = ofTests.partition(g => isFound(g.term))
      ofSlots.groupBy(g => tests.slot(g.term)).toSeq.sortBy(_._1).foreach { case (slot, own) =>
        ofSlot(slot, own, depth)
      }
      ofTexts.groupBy(g => scanOf(tests.slot(g.term))).toSeq.sortBy(_._1).foreach { case (scan, own) =>
        if (own.length == 1) gate(own.head, depth) else ofScan(scan, own, depth)
      }
      wholeGroups.foreach(gate(_, depth))
    }
  }

  /** Whether an alternative is true where nothing of it is left to test. */
  private val isDone: Int => Boolean = a => starts(a) == ends(a)

  /** Each alternative with the others that are put under the same term. */
  private def divide(open: Array[Int]): Seq[Group] = {
    countAll(open, 1)
    val chosen = new Array[Long](open.length)
    var i = 0
    while (i < open.length) {
      val a = open(i)
      val best = bestTerm(a, open.length)
      val term = terms(best)
      terms(best) = terms(starts(a))
      terms(starts(a)) = term
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
      groups += new Group(terms(starts(chosen(from).toInt)), members)
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

  private def countAll(open: Array[Int], by: Int): Unit = {
    var k = 0
    while (k < open.length) {
      val end = ends(open(k))
      var i = starts(open(k))
      while (i < end) {
        counts(place(terms(i))) += by
        if (terms(i) >= 0) placeCounts(places(terms(i))) += by
        i += 1
      }
      k += 1
    }
  }

  /** The term of an alternative that it is expected to cost least to put it under, in a block of so many. */
  private def bestTerm(a: Int, all: Int): Int = {
    var best = starts(a)
    var least = Double.MaxValue
    var i = starts(a)
    while (i < ends(a)) {
      val own = visit(terms(i), 1.0, isLast = ends(a) - starts(a) == 1)
      if (own < least) { // else it loses whatever comes next, which takes much longer to find out
        val score = own + chances(place(terms(i))) * visitNext(a, i, all)
        if (score < least) { least = score; best = i }
      }
      i += 1
    }
    best
  }

  /** What an alternative costs among those that have the i-th term in common with it. */
  private def visitNext(a: Int, i: Int, all: Int): Double = {
    val left = ends(a) - starts(a) - 1
    if (left == 0) 0.0
    else if (left > ManyTerms) 1.0
    else {
      val share = counts(place(terms(i))).toDouble / all
      var least = Double.MaxValue
      var j = starts(a)
      while (j < ends(a)) {
        if (j != i) least = math.min(least, visit(terms(j), share, isLast = left == 1))
        j += 1
      }
      least
    }
  }

  /** What it costs each time to get past a term, divided by those that have it in common in such a share of a block. */
  private def visit(term: Int, share: Double, isLast: Boolean): Double = {
    val i = place(term)
    def among(count: Int): Double = math.max(1.0, share * count)
    val slots = if (term >= 0) among(placeCounts(places(term))) else 1.0
    kinds(i) match {
      case Jumped => (1.0 + expenses(i)) / slots
      case Ordered if isLast => (2.0 + expenses(i)) / slots
      case Ordered => (chances(i) / among(counts(i))) + (1.0 + expenses(i)) / slots
      case _ => (1.0 + expenses(i)) / among(counts(i))
    }
  }

  /** The groups whose terms test one slot. */
  private def ofSlot(slot: Int, groups: Seq[Group], depth: Int): Unit = {
    val (points, rest) = groups.partition(g => tests.isPoints(g.term))
    val (upTo, notUpTo) = rest.partition(g => tests.isUpTo(g.term))
    val (from, twoSided) = notUpTo.partition(g => tests.isFrom(g.term))
    val (intervals, sets) = twoSided.partition(g => tests.isInterval(g.term))
    if (points.length == 1 && tests.isPoint(points.head.term)) gate(points.head, depth)
    else switches(slot, points, depth)
    ordered(slot, upTo.sortBy(g => -tests.last(g.term)), g => tests.last(g.term), Op.UpTo, Op.UpToOnce, depth)
    ordered(slot, from.sortBy(g => tests.first(g.term)), g => tests.first(g.term), Op.From, Op.FromOnce, depth)
    if (intervals.length < ManyIntervals) intervals.foreach(gate(_, depth)) else switches(slot, intervals, depth)
    sets.foreach(gate(_, depth))
  }

  /** Whether a test is true when a scan finds what it looks for. */
  private def isFound(test: Int): Boolean =
    scanOf(tests.slot(test)) >= 0 && tests.isPoint(test) && tests.first(test) == Keys.TrueCode

  private def ofScan(scan: Int, groups: Seq[Group], depth: Int): Unit = {
    val sorted = groups.sortBy(g => tests.slot(g.term))
    put(Op.Scan, scan)
    code += sorted.length
    sorted.foreach(g => code += tests.slot(g.term))
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
    if (term >= 0 && tests.isInterval(term) && subscriptions(a).length == 1 && !repeats(a)) {
      putTest(term, Op.EqualEmit, Op.UpToEmit, Op.FromEmit, Op.InEmit)
      code += subscriptions(a)(0)
    } else {
      val otherwise = ArrayBuffer.empty[Int]
      goOnIf(term, otherwise)
      emitAll(Array(a))
      patch(otherwise)
    }

  /** Tests of one side of a value, in such an order that the first that fails ends them. */
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
    def forAll(f: Array[Int] => Unit): Unit =
      for (group <- finished; a <- group.members if repeats(a) == once) f(subscriptions(a))
    var count = 0
    forAll(count += _.length)
    if (count > 0) {
      put(op, slot)
      code += count
      finished.foreach { group =>
        val value = bound(group)
        for (a <- group.members if repeats(a) == once) subscriptions(a).foreach(_ => code += value)
      }
      forAll(_.foreach(code += _))
    }
  }

  /**
   * A jump to what is true for the slot's code. An interval consists of a few aligned ones, of lengths that are powers
   * of two; for each length there is a jump of its own, by the code without its lowest bits.
   */
  private def switches(slot: Int, groups: Seq[Group], depth: Int): Unit = if (groups.nonEmpty) {
    val pieces = groups.flatMap(g => Codes.pairs(tests.intervals(g.term)).flatMap(aligned).map(_ -> g))
    val users = pieces.groupMap(_._1)(_._2)
    // Code that is jumped to from one place, or that no other shares its places with, needs no way back.
    val alone = groups.filter { g =>
      val own = Codes.pairs(tests.intervals(g.term)).flatMap(aligned).toSeq
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

  /** One alternative by itself: its tests in the best order, then what they make true. */
  private def single(a: Int): Unit = {
    val otherwise = ArrayBuffer.empty[Int]
    val order = Arrays.copyOfRange(terms, starts(a), ends(a)).sortBy { term =>
      (1.0 + expenses(place(term))) / math.max(1e-9, 1.0 - chances(place(term)))
    }
    order.foreach { term =>
      expected(a) += reached(a) * (1.0 + expenses(place(term)))
      reached(a) *= chances(place(term))
    }
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
    val all = if (finished.length == 1) subscriptions(finished(0)) else sorted(finished)
    put(op)
    code += all.length
    all.foreach(code += _)
  }

  private def sorted(finished: Array[Int]): Array[Int] = {
    val all = finished.flatMap(subscriptions(_))
    Arrays.sort(all)
    all
  }

  /** Code that goes on if a term is true, and otherwise jumps to what is patched into `otherwise` later. */
  private def goOnIf(term: Int, otherwise: ArrayBuffer[Int]): Unit =
    if (term >= 0) otherwise += goOnIfTest(term)
    else goOnIfNode(wholes(-1 - term), otherwise)

  private def goOnIfNode(node: Int, otherwise: ArrayBuffer[Int]): Unit =
    if (isShared(node)) otherwise += nodeOf(node, Op.NodeElse)
    else forest.kinds(node) match {
      case Forest.Predicate => otherwise += goOnIfTest(conditions.leafTests(node))
      case Forest.And => childrenOf(node)(1.0 - conditions.chances(_)).foreach(goOnIfNode(_, otherwise))
      case _ =>
        val arrivals = ArrayBuffer.empty[Int]
        val ordered = childrenOf(node)(conditions.chances(_))
        ordered.init.foreach(jumpIfNode(_, arrivals))
        goOnIfNode(ordered.last, otherwise)
        patch(arrivals)
    }

  private def jumpIfNode(node: Int, arrivals: ArrayBuffer[Int]): Unit =
    if (isShared(node)) arrivals += nodeOf(node, Op.NodeThen)
    else forest.kinds(node) match {
      case Forest.Predicate => arrivals += jumpIfTest(conditions.leafTests(node))
      case Forest.Or => childrenOf(node)(conditions.chances(_)).foreach(jumpIfNode(_, arrivals))
      case _ =>
        val otherwise = ArrayBuffer.empty[Int]
        goOnIfNode(node, otherwise)
        arrivals += jump()
        patch(otherwise)
    }

  /** Subexpressions that are too large to be written out wherever they are needed; or constants. */
  private def isShared(node: Int): Boolean =
    conditions.sizes(node) > LargestInline ||
      forest.kinds(node) != Forest.Predicate && forest.children.length(node) == 0

  /** Children that are cheap first, and those likely to decide. */
  private def childrenOf(node: Int)(decides: Int => Double): Seq[Int] =
    forest.children(node).toSeq.sortBy(child => conditions.costs(child) / math.max(1e-9, decides(child)))

  private def goOnIfTest(test: Int): Int = {
    if (tests.isInterval(test)) putTest(test, Op.EqualElse, Op.UpToElse, Op.FromElse, Op.InElse)
    else putSet(test, Op.SetElse)
    hole()
  }

  private def jumpIfTest(test: Int): Int = {
    if (tests.isPoint(test)) { put(Op.EqualThen, tests.slot(test)); code += tests.first(test) }
    else if (tests.isInterval(test)) {
      put(Op.InThen, tests.slot(test))
      code += tests.first(test)
      code += tests.last(test)
    } else putSet(test, Op.SetThen)
    hole()
  }

  /** A test that is an interval, by the shortest of these operations. */
  private def putTest(test: Int, equal: Int, upTo: Int, from: Int, in: Int): Unit = {
    val slot = tests.slot(test)
    if (tests.isPoint(test)) { put(equal, slot); code += tests.first(test) }
    else if (tests.isUpTo(test)) { put(upTo, slot); code += tests.last(test) }
    else if (tests.isFrom(test)) { put(from, slot); code += tests.first(test) }
    else { put(in, slot); code += tests.first(test); code += tests.last(test) }
  }

  private def putSet(test: Int, set: Int): Unit = {
    put(set, tests.slot(test))
    code += setNumbers.getOrElseUpdate(test, setNumbers.size)
  }

  private def nodeOf(node: Int, op: Int): Int = {
    put(op, sharedNodes.getOrElseUpdate(node, sharedNodes.size))
    hole()
  }

  private def put(op: Int, slot: Int = 0): Unit = code += op | (slot << Op.Bits)

  private def jump(): Int = { put(Op.Jump); hole() }

  private def hole(): Int = { code += 0; code.length - 1 }

  private def patch(holes: Iterable[Int]): Unit = holes.foreach(code(_) = code.length)
}

object Assembler {
  // How a test is found to be true: by a jump that its slot's tests have in common, in their order, or by asking.
  private final val Jumped: Byte = 0
  private final val Ordered: Byte = 1
  private final val Asked: Byte = 2
  private val ManyTerms = 12
  private val Deepest = 64
  private val ManyIntervals = 8
  private val FewIds = 4
  private val LargestInline = 16

  private final class Group(val term: Int, val members: Array[Int])

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
