package sparkrules.compile

import scala.collection.mutable.ArrayBuffer

import sparkrules.bind.{Bound, BoundPredicate, WantedTexts}
import sparkrules.guard.{Failing, Rejection}
import sparkrules.program.{Forest, Ids, Program, Validity}
import sparkrules.store.Segment
import sparkrules.text.TextScan
import sparkrules.value.{ExpressionBytes, IntBuffer, IntLists}

/** Compiles a bound rule set to a [[Program]]. */
final class Compiler(segment: Segment, bound: Bound) {
  import Compiler.Written

  private val nodes = segment.forest.nodes.size
  private val kinds: Array[Byte] = Compiler.kinds(segment)

  /** Nodes with a predicate that Spark does not accept on this table, and so the subscriptions to leave out. */
  private val invalid: Array[Boolean] = {
    val flags = new Array[Boolean](nodes)
    (0 until nodes).foreach { n =>
      flags(n) =
        if (kinds(n) == Forest.Predicate) bound.predicates(segment.forest.nodes.predicates(n)).isLeft
        else segment.forest.nodes.children(n).exists(flags(_))
    }
    flags
  }

  /** The subscriptions that are left out. */
  val rejected: Seq[Int] = segment.rules.ids.indices.filter(s => invalid(segment.rules.nodes(s)))

  /** Why a subscription is left out. */
  def rejection(subscription: Int): Rejection = firstRejection(segment.rules.nodes(subscription))

  private def firstRejection(node: Int): Rejection =
    if (kinds(node) == Forest.Predicate) bound.predicates(segment.forest.nodes.predicates(node)).left.toOption.get
    else firstRejection(segment.forest.nodes.children(node).find(invalid(_)).get)

  /**
   * The program; and the forest that it was made of, whose subscriptions are numbered as in the program.
   *
   * @param inBands whether only the first matches will be wanted
   */
  def compile(inBands: Boolean): (Program, Forest) = {
    val forest = new Forest(
      kinds,
      Array.tabulate(nodes)(n => if (isTest(n)) leaf(n).slot else -1),
      IntLists((0 until nodes).map(n => if (isTest(n)) leaf(n).intervals else Array.empty[Int])),
      if (rejected.isEmpty) segment.forest.nodes.children
      else IntLists((0 until nodes).map(n => if (invalid(n)) Array.empty[Int] else segment.forest.nodes.children(n))),
      order.map(segment.rules.nodes(_)))
    val conditions = new Conditions(forest, new PredicateTable(bound.slots), expense)
    val written = if (inBands) writeBands(forest, conditions) else writeAll(forest, conditions)
    val wholeTexts = bound.texts.toSet
    val program = new Program(
      ExpressionBytes.of(bound.slots.map(_.expression)),
      bound.slots.map(_.base),
      bound.slots.map(_.keys),
      scans,
      written.code.words.toArray,
      written.bands,
      DenseCompiler(written.dense, conditions),
      IntLists(written.code.setNumbers.keys.toSeq.map(conditions.tests.intervals)),
      forest.subset(written.code.sharedNodes.keys.toSeq),
      written.hasRepeats,
      bound.slots.indices.filter(s => isComputed(s) && !wholeTexts(s)).toArray,
      if (bound.texts.isEmpty) bound.texts else order.map(bound.texts(_)),
      Ids(order.map(segment.rules.ids(_))),
      order.map(segment.rules.priorities(_)),
      Validity.of(segment, order))
    (program, forest)
  }

  private def writeAll(forest: Forest, conditions: Conditions): Written = {
    val all = order.indices.toArray
    val (code, assembler) = write(forest, conditions, all, new Code)
    val dense = densely(forest, conditions, assembler)
    if (dense.isEmpty) Written(code, Array(0), dense, assembler.alternatives.repeats.contains(true))
    else {
      val (rest, others) = write(forest, conditions, all.diff(dense), new Code)
      Written(rest, Array(0), dense, others.alternatives.repeats.contains(true))
    }
  }

  private def writeBands(forest: Forest, conditions: Conditions): Written = {
    val code = new Code
    var hasRepeats = false
    val starts = Bands.of(order.length).map { band =>
      val start = code.words.length
      val (_, assembler) = write(forest, conditions, band.toArray, code)
      hasRepeats ||= assembler.alternatives.repeats.contains(true)
      start
    }
    Written(code, starts.toArray, Array.empty, hasRepeats)
  }

  private def write(
      forest: Forest, conditions: Conditions, subscriptions: Array[Int], code: Code): (Code, Assembler) = {
    val assembler = new Assembler(conditions, alternatives(forest, conditions, subscriptions), scanOf, expense, code)
    assembler.assemble()
    (code, assembler)
  }

  /** The subscriptions that are not left out, highest priority first, then by id: as the program numbers them. */
  lazy val order: Array[Int] =
    Compiler.ordered(segment, segment.rules.ids.indices.filter(s => !invalid(segment.rules.nodes(s))))

  private def isTest(node: Int): Boolean = kinds(node) == Forest.Predicate && !invalid(node)

  private def leaf(node: Int): BoundPredicate = bound.predicates(segment.forest.nodes.predicates(node)).toOption.get

  /**
   * The subscriptions, ascending, that cost less where many rows are evaluated at once: those expected to be looked at
   * often. Not those with values to compute, which would have to be computed for every row.
   */
  private def densely(forest: Forest, conditions: Conditions, assembler: Assembler): Array[Int] = {
    val costs = new Array[Double](forest.roots.length)
    val all = assembler.alternatives
    (0 until all.size).foreach(a => all.subscriptions(a).foreach(costs(_) += assembler.expected(a)))
    def denseCost(s: Int): Double = Compiler.DenseBase + Compiler.DenseTest * conditions.sizes(forest.roots(s))
    val isPlain = plainNodes(forest)
    val chosen = forest.roots.indices.filter { s =>
      costs(s) > denseCost(s) && isPlain(forest.roots(s)) && conditions.sizes(forest.roots(s)) <= Compiler.DenseSize
    }
    if (chosen.iterator.map(s => costs(s) - denseCost(s)).sum > Compiler.DenseGain) chosen.toArray else Array.empty
  }

  /** Per node: whether it is made of simple tests of columns. */
  private def plainNodes(forest: Forest): Array[Boolean] = {
    val plain = new Array[Boolean](nodes)
    (0 until nodes).foreach { n =>
      plain(n) =
        if (kinds(n) == Forest.Predicate) {
          isTest(n) && expense(forest.slots(n)) == 0 && forest.intervals.length(n) <= Compiler.DenseIntervals
        } else forest.children.length(n) > 0 && forest.children(n).forall(plain(_))
    }
    plain
  }

  private def alternatives(forest: Forest, conditions: Conditions, wanted: Array[Int]): Alternatives = {
    val subscriptions = IntLists.group(nodes, wanted.map(forest.roots(_)), wanted)
    val (terms, starts, ends) = (new IntBuffer, new IntBuffer, new IntBuffer)
    val (users, repeats) = (ArrayBuffer.empty[Array[Int]], ArrayBuffer.empty[Boolean])
    (0 until nodes).foreach { root =>
      if (subscriptions.length(root) > 0) {
        val own = subscriptions(root)
        val all = conditions.alternatives(root)
        val mayRepeat = all.length > 1 &&
          (all.length > Compiler.Few || !areDisjoint(all.toArray, conditions))
        all.foreach { alternative =>
          starts += terms.length
          alternative.foreach(terms += _)
          ends += terms.length
          users += own
          repeats += mayRepeat
        }
      }
    }
    new Alternatives(terms.toArray, starts.toArray, ends.toArray, users.toArray, repeats.toArray)
  }

  private def areDisjoint(all: Array[Array[Int]], conditions: Conditions): Boolean =
    all.indices.forall(i => (i + 1 until all.length).forall(j => conditions.areDisjoint(all(i), all(j))))

  private def isComputed(slot: Int): Boolean =
    bound.slots(slot).base >= 0 || (bound.slots(slot).expression match {
      case _: Failing => true
      case expression => expression.children.nonEmpty
    })

  private val scans: Array[TextScan] = {
    val tests = bound.slots.indices.flatMap { slot =>
      if (bound.slots(slot).base < 0) None else WantedTexts.of(bound.slots(slot).expression).map(slot -> _)
    }
    tests.groupBy { case (slot, _) => bound.slots(slot).base }.toSeq.sortBy(_._1).map(own => TextScan.of(own._2)).toArray
  }

  private val scanOf: Array[Int] = TextScan.bySlot(scans, bound.slots.length)

  // A column is read anyway; an expression or a test of a text must be evaluated by Spark, row by row.
  private def expense(slot: Int): Double =
    if (scanOf(slot) >= 0) Compiler.Scan else if (isComputed(slot)) Compiler.Evaluation else 0.0
}

/**
 * Subscriptions, in their order, cut into bands: where only the first few matches are wanted, one band is run after the
 * other until there are as many. Later ones are larger: a row that gets that far may have to go to the end.
 */
object Bands {
  private val First = 256
  private val Growth = 4

  def of(subscriptions: Int): Seq[Range] = {
    val bounds = Iterator.iterate(First.toLong)(_ * Growth).scanLeft(0L)(_ + _).takeWhile(_ < subscriptions).map(_.toInt).toSeq
    if (bounds.isEmpty) Seq(0 until 0) else bounds.zip(bounds.tail :+ subscriptions).map { case (a, b) => a until b }
  }
}

object Compiler {

  /** Per node: as in [[Forest]]. */
  def kinds(segment: Segment): Array[Byte] = segment.forest.nodes.operators.map {
    case "and" => Forest.And
    case "or" => Forest.Or
    case _ => Forest.Predicate
  }

  /** Subscriptions in the order in which they are reported: highest priority first, then by id. */
  def ordered(segment: Segment, subscriptions: Seq[Int]): Array[Int] = {
    val (ids, priorities) = (segment.rules.ids, segment.rules.priorities)
    subscriptions.sortWith { (a, b) =>
      if (priorities(a) != priorities(b)) priorities(a) > priorities(b) else ids(a).binaryCompare(ids(b)) < 0
    }.toArray
  }

  private final case class Written(code: Code, bands: Array[Int], dense: Array[Int], hasRepeats: Boolean)

  private val Few = 16
  private val Scan = 10.0
  private val Evaluation = 20.0

  // What a subscription and each of its tests cost per row where many rows are evaluated at once, and what must be saved.
  private val DenseBase = 0.003
  private val DenseTest = 0.002
  private val DenseGain = 1000.0
  private val DenseSize = 200.0
  private val DenseIntervals = 16
}
