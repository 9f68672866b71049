package sparkrules.compile

import scala.collection.mutable
import scala.collection.mutable.ArrayBuffer

import sparkrules.bind.{PythonValue, Slot}
import sparkrules.program.{Forest, Questions}
import sparkrules.value.IntLists

/**
 * Finds the questions of a rule set: see `Questions`.
 *
 * Most rules are conjunctions of cheap predicates and predicates of results. Each needs the first result where the
 * cheap ones are true, and the next where those of the first are true as well. Rules that need the same result under
 * the same condition have one question: `score(x) > 0.1` to `score(x) > 0.9` behind `a = 1` ask once whether `a = 1`.
 * Any other rule must be looked at where it is true if all open predicates are.
 */
private final class QuestionForest(forest: Forest, slots: Array[Slot]) {

  /** Per slot: the results that it may need. */
  private val resultsOf: Array[Seq[Int]] = slots.map { slot =>
    val base = if (slot.base >= 0) PythonValue.inputs(slots(slot.base).expression) else Nil
    (base ++ PythonValue.inputs(slot.expression)).distinct
  }

  /** Per slot: the only result that it needs, whatever the row; or -1. */
  private val neededBy: Array[Int] = slots.map { slot =>
    val source = if (slot.base >= 0) slots(slot.base) else slot
    PythonValue.needed(source.expression).getOrElse(-1)
  }

  /** Per node: whether it has a predicate of a result. */
  private val isOpen = new Array[Boolean](forest.size)
  forest.kinds.indices.foreach { node =>
    isOpen(node) =
      if (isPredicate(node)) forest.slots(node) >= 0 && resultsOf(forest.slots(node)).nonEmpty
      else children(node).exists(isOpen(_))
  }

  /** Per result: how many rules may need it. */
  val uses: mutable.Map[Int, Int] = mutable.HashMap.empty.withDefaultValue(0)

  /** The microseconds that a call takes, as users say or as was measured; else a guess. */
  def cost(input: Int): Double = costs.getOrElse(input, QuestionForest.Guess)

  private lazy val costs: Map[Int, Double] = slots.indices.flatMap { slot =>
    if (slots(slot).base < 0 && neededBy(slot) >= 0) slots(slot).microseconds.map(neededBy(slot) -> _) else None
  }.groupMapReduce(_._1)(_._2)(math.max)

  private val questions = mutable.LinkedHashMap.empty[(Int, Int), ArrayBuffer[Int]]
  private val added = ArrayBuffer.empty[(Byte, Seq[Int])]
  private val places = mutable.HashMap.empty[(Byte, Seq[Int]), Int]
  private val complex = ArrayBuffer.empty[Int]

  private val rules = forest.roots.indices.filter(rule => isOpen(forest.roots(rule))).groupBy(forest.roots(_)).toSeq
  rules.foreach { case (root, users) => resultsUnder(root).foreach(uses(_) += users.length) }
  rules.sortBy(_._1).foreach { case (root, users) => ask(root, users) }

  /** The conditions of the questions as roots. */
  lazy val conditions: Forest = new Forest(
    forest.kinds ++ added.map(_._1),
    forest.slots ++ Array.fill(added.length)(-1),
    forest.intervals.withEmpty(added.length),
    IntLists.concat(Seq(forest.children, IntLists(added.map(_._2.toArray)))),
    Array.empty).subset(questions.keys.toSeq.map(_._1))

  def asked: Array[Int] = questions.keys.toArray.map(_._2)

  def users: IntLists = IntLists(questions.values.map(_.toArray))

  /** The rules that must be looked at as roots. */
  lazy val complexRules: Forest = forest.subset(complex.toSeq)

  private def ask(root: Int, users: Seq[Int]): Unit = {
    val (open, cheap) = conjunction(root).partition(isOpen(_))
    if (open.forall(node => isPredicate(node) && neededBy(forest.slots(node)) >= 0)) {
      val byResult = open.groupBy(node => neededBy(forest.slots(node))).toSeq
      byResult.sortBy { case (i, _) => (Questions.rank(cost(i), uses(i)), i) }.foldLeft(cheap.toSet) {
        case (condition, (input, predicates)) =>
          add(node(Forest.And, condition.toSeq.sorted), input, users)
          condition ++ predicates
      }
    } else {
      complex += root
      add(possible(root), -complex.length, users)
    }
  }

  private def add(condition: Int, asked: Int, users: Seq[Int]): Unit =
    questions.getOrElseUpdate((condition, asked), ArrayBuffer.empty) ++= users

  /** The parts of a conjunction, and of those in it. */
  private def conjunction(node: Int): Seq[Int] =
    if (forest.kinds(node) == Forest.And) children(node).flatMap(conjunction).distinct else Seq(node)

  /** The node if all open predicates are true. */
  private def possible(node: Int): Int =
    if (!isOpen(node)) node
    else if (isPredicate(node)) always
    else {
      val own = children(node).map(possible)
      if (forest.kinds(node) == Forest.And) this.node(Forest.And, own.filter(_ != always).distinct.sorted)
      else if (own.contains(always)) always
      else this.node(Forest.Or, own.distinct.sorted)
    }

  private lazy val always: Int = node(Forest.And, Nil)

  private def node(kind: Byte, children: Seq[Int]): Int =
    if (children.length == 1) children.head
    else places.getOrElseUpdate((kind, children), {
      added += (kind -> children)
      forest.size + added.length - 1
    })

  private def resultsUnder(root: Int): Set[Int] = {
    val (seen, open, found) = (mutable.HashSet.empty[Int], mutable.Stack(root), mutable.HashSet.empty[Int])
    while (open.nonEmpty) {
      val node = open.pop()
      if (isOpen(node) && seen.add(node)) {
        if (isPredicate(node)) found ++= resultsOf(forest.slots(node)) else open.pushAll(children(node))
      }
    }
    found.toSet
  }

  private def isPredicate(node: Int): Boolean = forest.kinds(node) == Forest.Predicate
  private def children(node: Int): Seq[Int] = forest.children(node).toSeq
}

private object QuestionForest {

  // A round trip to a Python worker for one row of a batch.
  private val Guess = 100.0
}
