package sparkrules.kernel

import java.util.{Arrays, BitSet}

import sparkrules.program.Forest
import sparkrules.value.{Codes, Keys}

/**
 * What is known of the nodes of a forest for the current row, while calls of Python functions have not been made for
 * it: true, false, or open.
 *
 * Not every open call under an open node can decide it: `f(x) > 1` makes no difference to
 * `f(x) > 1 AND g(x) > 1 OR g(x) > 1 AND a = 1` where `a = 1`. No predicate is negated. So among calls that together
 * make the node true, while none of them can be left out, each can decide it.
 */
final class PartialTruth private[kernel] (forest: Forest, codes: SlotCodes) extends Stamped {
  import PartialTruth._
  import forest._

  // Per node, of the last row that asked: the row's stamp above the answer.
  private val answers = new Array[Long](forest.size)

  // Per node, of the last trial that asked: the number of the trial above whether the node is true in it.
  private val inTrial = new Array[Long](forest.size)
  private var trial = 0L
  private val (calls, assumed) = (new BitSet, new BitSet)

  /** A call that can decide a node; negative if nothing is open. */
  def callFor(node: Int): Int = {
    val first = of(node)
    if (first < 0) first
    else {
      trial += 1
      calls.clear()
      collect(node)
      if (calls.cardinality == 1) first else decisive(node)
    }
  }

  /** Tries to do without one call after the other, the last first. */
  private def decisive(node: Int): Int = {
    assumed.clear()
    assumed.or(calls)
    var call = calls.length - 1
    while (call >= 0) {
      trial += 1
      assumed.clear(call)
      if (!isPossible(node)) assumed.set(call)
      call = calls.previousSetBit(call - 1)
    }
    assumed.nextSetBit(0)
  }

  /** Adds the calls under an open node that are open. */
  private def collect(node: Int): Unit = if (of(node) >= 0 && (inTrial(node) >> 1) != trial) {
    inTrial(node) = trial << 1
    if (kinds(node) == Forest.Predicate) calls.set(of(node)) else children(node).foreach(collect)
  }

  /** Whether a node is true if the predicates of assumed calls are, and those of all others are not. */
  private def isPossible(node: Int): Boolean = {
    val known = of(node)
    if (known < 0) known == True
    else if ((inTrial(node) >> 1) == trial) (inTrial(node) & 1) == 1
    else {
      val answer = kinds(node) match {
        case Forest.Predicate => assumed.get(known)
        case Forest.And => children(node).forall(isPossible)
        case _ => children(node).exists(isPossible)
      }
      inTrial(node) = (trial << 1) | (if (answer) 1 else 0)
      answer
    }
  }

  /** [[PartialTruth.False]], [[PartialTruth.True]], or the first of the open calls under the node. */
  private def of(node: Int): Int = {
    val known = answers(node)
    if ((known >> 32).toInt == codes.stamp) known.toInt
    else {
      val answer = kinds(node) match {
        case Forest.Predicate => predicate(node)
        case Forest.And => all(node, decisive = False, otherwise = True)
        case _ => all(node, decisive = True, otherwise = False)
      }
      answers(node) = (codes.stamp.toLong << 32) | (answer & 0xffffffffL)
      answer
    }
  }

  override def forget(): Unit = Arrays.fill(answers, 0L)

  private def predicate(node: Int): Int = {
    val code = codes.of(slots(node))
    if (code == Keys.OpenCode) codes.openCall(slots(node))
    else if (Codes.contains(intervals.values, intervals.start(node), intervals.end(node), code)) True
    else False
  }

  /** One child that is `decisive` decides, whatever is open; without open ones it is `otherwise`. */
  private def all(node: Int, decisive: Int, otherwise: Int): Int = {
    var first = Int.MaxValue
    var i = children.start(node)
    val end = children.end(node)
    while (i < end) {
      val child = of(children.values(i))
      if (child == decisive) return decisive
      if (child >= 0) first = math.min(first, child)
      i += 1
    }
    if (first == Int.MaxValue) otherwise else first
  }
}

private object PartialTruth {
  final val False = -1
  final val True = -2
}
