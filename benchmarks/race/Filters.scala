package race

import java.util.Arrays

/** A filter of thesis 3.4 and 3.5. They share the forest and the first phase, which is why only one of them inserts. */
abstract class Filter(val work: Workload, val forest: ATree, index: PredicateIndex) extends Algorithm {
  private val predicates = new Ints()
  protected var event = 0
  protected var touchedBy: Array[Int] = Array.emptyIntArray

  override def insert(subscription: Int): Unit = forest.insert(subscription)

  override def filter(values: Array[Int], found: Ints): Unit = {
    prepare()
    event += 1
    predicates.clear()
    index.truePredicates(values, predicates)
    decide(predicates, found)
  }

  protected def prepare(): Unit =
    if (touchedBy.length < forest.capacity) touchedBy = Arrays.copyOf(touchedBy, forest.capacity)

  protected def decide(predicates: Ints, found: Ints): Unit

  protected final def report(node: Int, found: Ints): Unit = {
    var subscription = forest.firstSubscription(node)
    while (subscription >= 0) {
      found += subscription
      subscription = forest.nextSubscription(subscription)
    }
  }

  override def bytes: Long = forest.bytes + index.bytes + 4L * forest.nodes
}

/**
 * Algorithm 1, level by level with a queue for each; all values go up. The loop over levels advances, which the printed
 * one does not.
 */
class General(work: Workload, forest: ATree, index: PredicateIndex) extends Filter(work, forest, index) {
  private var operand1, operand2: Array[Byte] = Array.emptyByteArray
  private var queues: Array[Ints] = Array.empty
  protected val propagatesFalse: Boolean = true

  override def name: String = "general"

  override protected def prepare(): Unit = {
    super.prepare()
    if (operand1.length < forest.capacity) {
      operand1 = Arrays.copyOf(operand1, forest.capacity)
      operand2 = Arrays.copyOf(operand2, forest.capacity)
      queues = Array.fill(forest.highest + 1)(new Ints())
    }
  }

  override protected def decide(predicates: Ints, found: Ints): Unit = {
    var i = 0
    while (i < predicates.size) {
      val leaf = forest.leafOf(predicates(i))
      if (leaf >= 0) {
        report(leaf, found)
        propagate(leaf, 1)
      }
      i += 1
    }
    var at = 2
    while (at < queues.length) {
      val queue = queues(at)
      i = 0
      while (i < queue.size) {
        val node = queue(i)
        val result = execute(forest.operator(node), operand1(node), operand2(node))
        computed += 1
        if (result == 1) report(node, found)
        if (result == 1 || propagatesFalse) propagate(node, result)
        i += 1
      }
      queue.clear()
      at += 1
    }
  }

  private def execute(operator: Int, one: Byte, other: Byte): Byte = operator match {
    case Workload.And => (one & other).toByte
    case Workload.Or => (one | other).toByte
    case _ => (one ^ other).toByte
  }

  /** A second operand that never arrives is false. */
  private def propagate(node: Int, result: Byte): Unit = {
    var edge = forest.firstEdge(node)
    while (edge >= 0) {
      val parent = edge >> 1
      passed += 1
      if (touchedBy(parent) != event) {
        touchedBy(parent) = event
        operand1(parent) = result
        operand2(parent) = 0
        queues(forest.level(parent)) += parent
      } else operand2(parent) = result
      edge = forest.nextOf(edge)
    }
  }

  /** A place in a queue for every node, and two operands. */
  override def bytes: Long = super.bytes + 6L * forest.nodes
}

/** 3.5.1: only true goes up. */
final class ZeroSuppression(work: Workload, forest: ATree, index: PredicateIndex) extends General(work, forest, index) {
  override def name: String = "zero suppression"
  override protected val propagatesFalse: Boolean = false
}

/** Algorithms 2 and 3, of which the second starts from the true leaves, not from "non-leaf nodes" as it is printed. */
final class TrueValuePath(work: Workload, forest: ATree, index: PredicateIndex) extends Filter(work, forest, index) {
  override def name: String = "true value path"

  override protected def decide(predicates: Ints, found: Ints): Unit = {
    var i = 0
    while (i < predicates.size) {
      val leaf = forest.leafOf(predicates(i))
      if (leaf >= 0) {
        report(leaf, found)
        walk(leaf, found)
      }
      i += 1
    }
  }

  /** True_Value_DFS. */
  private def walk(node: Int, found: Ints): Unit = {
    var edge = forest.firstEdge(node)
    while (edge >= 0) {
      val parent = edge >> 1
      passed += 1
      val isFirst = touchedBy(parent) != event
      touchedBy(parent) = event
      if (isFirst == (forest.operator(parent) == Workload.Or)) {
        computed += 1
        report(parent, found)
        walk(parent, found)
      }
      edge = forest.nextOf(edge)
    }
  }
}
