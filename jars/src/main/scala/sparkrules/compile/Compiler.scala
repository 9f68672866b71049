package sparkrules.compile

import sparkrules.bind.{Bound, BoundPredicate, PythonValue}
import sparkrules.guard.Rejection
import sparkrules.program.{
  CompiledRules, CompiledSlots, Forest, Ids, Instructions, Program, Questions, RuleOrder, Validity
}
import sparkrules.store.Segment
import sparkrules.value.{ExpressionBytes, IntLists}

/**
 * Compiles a bound rule set to a [[Program]].
 *
 * @param forRegions whether rules are asked about regions. A predicate of a column that is not there could be true
 *   then, and the program needs no code: the forest is evaluated.
 */
final class Compiler(segment: Segment, bound: Bound, forRegions: Boolean = false) {
  private val nodes = segment.forest.nodes.size
  private val kinds: Array[Byte] = Compiler.kinds(segment)
  private val slotCosts = new SlotCosts(bound.slots, withScans = !forRegions)

  /** Nodes with a predicate that Spark does not accept on this table. */
  private val invalid: Array[Boolean] = {
    val flags = new Array[Boolean](nodes)
    (0 until nodes).foreach { n =>
      flags(n) =
        if (kinds(n) == Forest.Predicate) bound.predicates(segment.forest.nodes.predicates(n)).left.exists(isDecisive)
        else hasFlag(segment.forest.nodes.children, n, flags)
    }
    flags
  }

  private def hasFlag(lists: IntLists, n: Int, flags: Array[Boolean]): Boolean = {
    var i = lists.start(n)
    while (i < lists.end(n) && !flags(lists.values(i))) i += 1
    i < lists.end(n)
  }

  private def isDecisive(rejection: Rejection): Boolean = !forRegions || rejection.missing.isEmpty

  /** The rules that the program leaves out, by their rows in the segment. */
  val rejected: Seq[Int] = segment.rules.ids.indices.filter(rule => invalid(segment.rules.nodes(rule)))

  /** Why a rule is left out. */
  def rejection(rule: Int): Rejection = firstRejection(segment.rules.nodes(rule))

  private def firstRejection(node: Int): Rejection =
    if (kinds(node) == Forest.Predicate) bound.predicates(segment.forest.nodes.predicates(node)).left.toOption.get
    else firstRejection(segment.forest.nodes.children(node).find(invalid(_)).get)

  /** The rules that are not left out, in their order: as the program numbers them. */
  lazy val order: Array[Int] = {
    import segment.rules.{ids, nodes => ruleNodes, priorities}
    ids.indices.filter(rule => !invalid(ruleNodes(rule))).sortWith { (a, b) =>
      RuleOrder.compare(priorities(a), ids(a), priorities(b), ids(b)) < 0
    }.toArray
  }

  /**
   * The program, and the forest that it was made of, whose rules are numbered as in the program.
   *
   * @param inBands whether only the first matches will be wanted
   */
  def compile(inBands: Boolean): (Program, Forest) = {
    val forest = boundForest()
    val costs = new NodeCosts(forest, new PredicateTable(bound.slots), slotCosts.expense)
    val terms = new Terms(costs)
    val code = if (forRegions) writeNone(terms) else if (inBands) writeBands(terms) else writeAll(terms)
    (new Program(slots, code, rules), forest)
  }

  /**
   * What to ask Python before rows are matched, if rules call functions of Python; and per result, by its input, what
   * a call costs in microseconds and how many rules may need it.
   *
   * @param forest that of the program
   */
  def questions(forest: Forest): Option[(Questions, Map[Int, (Double, Int)])] =
    Option.when(!forRegions && bound.slots.exists(slot => PythonValue.inputs(slot.expression).nonEmpty)) {
      val found = new QuestionForest(forest, bound.slots)
      val terms = new Terms(new NodeCosts(found.conditions, new PredicateTable(bound.slots), slotCosts.expense))
      val out = new CodeWriter
      val assembler = write(terms, found.conditions.roots.indices.toArray, out)
      val code = instructions(terms, out, Array(0), assembler.alternatives.haveRepeats, dense = Array.empty)
      val uses = found.uses.map { case (input, rules) => input -> (found.cost(input), rules) }.toMap
      (new Questions(code, found.asked, found.users, found.complexRules), uses)
    }

  private def boundForest(): Forest = {
    def predicate(node: Int): Option[BoundPredicate] =
      if (kinds(node) != Forest.Predicate) None else bound.predicates(segment.forest.nodes.predicates(node)).toOption
    new Forest(
      kinds,
      Array.tabulate(nodes)(n => predicate(n).fold(-1)(_.slot)),
      IntLists((0 until nodes).map(n => predicate(n).fold(Array.empty[Int])(_.intervals))),
      if (rejected.isEmpty) segment.forest.nodes.children
      else IntLists((0 until nodes).map(n => if (invalid(n)) Array.empty[Int] else segment.forest.nodes.children(n))),
      order.map(segment.rules.nodes(_)))
  }

  private def slots: CompiledSlots = {
    // A rule that is one predicate may have the same slot as its whole text.
    val wholeTexts = bound.texts.toSet -- bound.predicates.flatMap(_.toOption.map(_.slot))
    new CompiledSlots(
      ExpressionBytes.of(bound.slots.map(_.expression)),
      bound.slots.map(_.base),
      bound.slots.map(_.keys),
      slotCosts.scans,
      bound.slots.indices.filter(s => slotCosts.isComputed(s) && !wholeTexts(s)).toArray)
  }

  private def rules: CompiledRules = new CompiledRules(
    Ids(order.map(segment.rules.ids(_))),
    order.map(segment.rules.priorities(_)),
    Validity.of(segment, order),
    if (bound.texts.isEmpty) bound.texts else order.map(bound.texts(_)))

  private def writeNone(terms: Terms): Instructions = {
    val out = new CodeWriter
    write(terms, Array.empty, out)
    instructions(terms, out, Array(0), hasRepeats = false, dense = Array.empty)
  }

  private def writeAll(terms: Terms): Instructions = {
    val all = order.indices.toArray
    val out = new CodeWriter
    val assembler = write(terms, all, out)
    val dense = DenseChoice.of(terms.costs, assembler)
    if (dense.isEmpty) instructions(terms, out, Array(0), assembler.alternatives.haveRepeats, dense)
    else {
      val rest = new CodeWriter
      val others = write(terms, all.diff(dense), rest)
      instructions(terms, rest, Array(0), others.alternatives.haveRepeats, dense)
    }
  }

  private def writeBands(terms: Terms): Instructions = {
    val out = new CodeWriter
    var hasRepeats = false
    val starts = Bands.of(order.length).map { band =>
      val start = out.words.length
      hasRepeats |= write(terms, band.toArray, out).alternatives.haveRepeats
      start
    }
    instructions(terms, out, starts.toArray, hasRepeats, dense = Array.empty)
  }

  private def write(terms: Terms, rules: Array[Int], out: CodeWriter): Assembler = {
    val alternatives = Alternatives.of(terms.costs.forest, terms, rules)
    val assembler = new Assembler(terms, alternatives, slotCosts.scanOf, out)
    assembler.assemble()
    assembler
  }

  private def instructions(
      terms: Terms, out: CodeWriter, bands: Array[Int], hasRepeats: Boolean, dense: Array[Int]): Instructions = {
    import terms.costs
    new Instructions(
      out.words.toArray,
      bands,
      IntLists(out.sets.map(costs.predicates.intervals)),
      costs.forest.subset(out.sharedNodes, costs.childrenInOrder),
      hasRepeats,
      DenseCompiler(dense, costs))
  }
}

object Compiler {

  /** Per node: as in [[Forest]]. */
  private def kinds(segment: Segment): Array[Byte] = segment.forest.nodes.operators.map {
    case "and" => Forest.And
    case "or" => Forest.Or
    case _ => Forest.Predicate
  }
}
