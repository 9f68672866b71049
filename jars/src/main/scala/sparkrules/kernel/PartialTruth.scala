package sparkrules.kernel

import java.util.Arrays

import sparkrules.program.Forest
import sparkrules.value.{Codes, Keys}

/**
 * What is known of the nodes of a forest for the current row, while calls of Python functions have not been made for
 * it: true, false, or open, and then the first call that can decide it.
 */
final class PartialTruth private[kernel] (forest: Forest, codes: SlotCodes) extends Stamped {
  import PartialTruth._
  import forest._

  // Per node, of the last row that asked: the row's stamp above the answer.
  private val answers = new Array[Long](forest.size)

  /** [[PartialTruth.False]], [[PartialTruth.True]], or a call. */
  def of(node: Int): Int = {
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

object PartialTruth {
  final val False = -1
  final val True = -2
}
