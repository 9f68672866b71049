package sparkrules.compile

import scala.collection.mutable

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

import sparkrules.bind.{Bound, BoundPredicate, PythonValue, Slot}
import sparkrules.program.{AllOf, AnyOf, Atom, Forest, Program, Questions, Rule, Tree}
import sparkrules.store.{
  ArrowTable, Segment, StoredConstants, StoredForest, StoredNodes, StoredPredicates, StoredRules}
import sparkrules.value.{Codes, IntLists, Keys}

/**
 * Rules as the compiler makes a program of them. The only place where tests make what the store and the binder make
 * otherwise: nodes, slots and codes.
 *
 * @param shares per slot of an attribute: the share of rows per code, given how many codes there are
 * @param microseconds what it takes to compute [[Rule.Computed]], if that is known
 * @param results the columns that are results of Python functions, asked for by the functions' calls
 */
final class CompiledRules(
    rules: IndexedSeq[Rule],
    inBands: Boolean = false,
    shares: (Int, Int) => Option[Array[Double]] = (_, _) => None,
    microseconds: Option[Double] = None,
    results: Set[Int] = Set.empty) {

  // Children before their parents.
  private val numbers = mutable.LinkedHashMap.empty[Tree, Int]
  private def add(tree: Tree): Unit = if (!numbers.contains(tree)) {
    childrenOf(tree).foreach(add)
    numbers(tree) = numbers.size
  }
  rules.foreach(rule => add(rule.tree))
  private val nodes = numbers.keys.toArray

  private def childrenOf(tree: Tree): Seq[Tree] = tree match {
    case AllOf(parts) => parts.toSeq
    case AnyOf(parts) => parts.toSeq
    case _: Atom => Nil
  }

  private val atoms: Array[Atom] = nodes.collect { case atom: Atom => atom }
  private val atomNumbers = atoms.zipWithIndex.toMap

  val segment: Segment = {
    val constants = atoms.flatMap(_.constants)
    val starts = atoms.map(_.constants.length).scanLeft(0)(_ + _)
    new Segment(
      new StoredForest(
        Rule.Attributes.toArray,
        new StoredConstants(
          constants.map(c => if (c == null) "null" else c.getClass.getSimpleName), constants.map(String.valueOf(_))),
        new StoredPredicates(
          atoms.map(_.attribute),
          atoms.map(_.operator),
          IntLists(atoms.indices.map(i => (starts(i) until starts(i + 1)).toArray))),
        new StoredNodes(
          nodes.map { case _: AllOf => "and"; case _: AnyOf => "or"; case _ => "predicate" },
          nodes.map { case atom: Atom => atomNumbers(atom); case _ => -1 },
          IntLists(nodes.map(childrenOf(_).map(numbers).toArray).toSeq))),
      new StoredRules(
        rules.map(rule => UTF8String.fromString(rule.id)).toArray,
        rules.map(rule => numbers(rule.tree)).toArray,
        rules.map(_.priority).toArray,
        rules.map(_.from.getOrElse(ArrowTable.NoInstant)).toArray,
        rules.map(_.until.getOrElse(ArrowTable.NoInstant)).toArray)(rules.map(_.tree.toString).toArray),
      Array.empty)
  }

  private def isOfText(atom: Atom): Boolean = Set("contains", "startswith", "endswith")(atom.operator)

  private val textTests: Seq[Atom] = atoms.filter(isOfText).toSeq

  private val slots: Array[Slot] = {
    val ofAttributes = Rule.Attributes.indices.map { attribute =>
      val expression = CompiledRules.expressionOf(attribute).transformUp {
        case read: BoundReference if results(read.ordinal) => PythonValue(read)
      }
      val own = atoms.filter(atom => atom.attribute == attribute && !isOfText(atom)).flatMap(_.constants)
      val keys = Keys.of(expression.dataType, own.filter(_ != null).map(CompiledRules.internal))
      Slot(expression, -1, keys, shares(attribute, keys.maxCode + 1), microseconds)
    }
    val text = BoundReference(0, StringType, nullable = true)
    val ofTexts = textTests.map { atom =>
      val wanted = Literal(atom.constants.head.toString)
      val test = atom.operator match {
        case "contains" => Contains(text, wanted)
        case "startswith" => StartsWith(text, wanted)
        case _ => EndsWith(text, wanted)
      }
      Slot(test, Rule.Text, Keys.of(BooleanType, Array.empty))
    }
    (ofAttributes ++ ofTexts).toArray
  }

  private def boundAtom(atom: Atom): BoundPredicate =
    if (isOfText(atom))
      BoundPredicate(Rule.Attributes.length + textTests.indexOf(atom), Array(Keys.TrueCode, Keys.TrueCode))
    else {
      val keys = slots(atom.attribute).keys
      val points = atom.constants.filter(_ != null).map(c => keys.codeOf(CompiledRules.internal(c))).toArray
      BoundPredicate(atom.attribute, Codes.of(atom.operator, points, atom.constants.contains(null), keys.maxCode))
    }

  val bound: Bound = {
    val row = Rule.Columns.map { case (name, dataType) => AttributeReference(name, dataType)() }
    Bound(row, row.indices, Nil, slots, atoms.map(atom => scala.util.Right(boundAtom(atom))), Array.empty)
  }

  private val compiler = new Compiler(segment, bound)
  val (program: Program, forest: Forest) = compiler.compile(inBands)

  /** What to ask before rows are matched. */
  lazy val questions: Option[Questions] = compiler.questions(forest).map(_._1)

  /** The columns that are results, in the order in which a query asks for them: the cheapest per rule first. */
  lazy val resultsInOrder: Seq[Int] = {
    val uses = compiler.questions(forest).fold(Map.empty[Int, (Double, Int)])(_._2)
    val used = uses.toSeq.sortBy { case (column, (cost, rules)) => (Questions.rank(cost, rules), column) }.map(_._1)
    used ++ results.toSeq.sorted.diff(used)
  }

  /** The node of a tree in the forest. */
  def node(tree: Tree): Int = numbers(tree)

  /** Per node: its predicate, or -1. */
  def nodePredicates: Array[Int] = segment.forest.nodes.predicates
}

object CompiledRules {
  val inputs: Seq[Expression] =
    Rule.Columns.zipWithIndex.map { case ((_, dataType), i) => BoundReference(i, dataType, nullable = true) }

  def internal(value: Any): Any = value match {
    case text: String => UTF8String.fromString(text)
    case other => other
  }

  def internalRow(row: Seq[Any]): InternalRow = InternalRow.fromSeq(row.map(internal))

  private def expressionOf(attribute: Int): Expression =
    if (attribute == Rule.Computed) Cast(inputs(attribute), IntegerType, Some("UTC"), EvalMode.ANSI)
    else inputs(attribute)
}
