package sparkrules

import java.util.Arrays

import scala.collection.mutable
import scala.collection.mutable.ArrayBuffer

/**
 * The shared subexpressions of a rule set, bound to a table. Children are numbered before their parents.
 *
 * @param kinds per node: [[Forest.Leaf]], [[Forest.And]] or [[Forest.Or]]
 * @param slots per node: the slot of a leaf, or -1
 * @param intervals per node: the codes for which a leaf is true, pairs of first and last
 * @param children per node: its children, those likely to decide first
 * @param roots per subscription (or whatever else asks): its node
 */
final class Forest(
    val kinds: Array[Byte],
    val slots: Array[Int],
    val intervals: IntLists,
    val children: IntLists,
    val roots: Array[Int])
    extends Serializable {

  def size: Int = kinds.length

  /** Per slot: the subscriptions that have a test of it. Needed only where errors are asked for. */
  @transient lazy val users: IntLists = {
    val (used, subscriptions) = (ArrayBuffer.empty[Int], ArrayBuffer.empty[Int])
    roots.indices.foreach { subscription =>
      val (seen, open) = (mutable.HashSet.empty[Int], mutable.Stack(roots(subscription)))
      while (open.nonEmpty) {
        val node = open.pop()
        if (seen.add(node)) {
          if (kinds(node) == Forest.Leaf && seen.add(-1 - slots(node))) {
            used += slots(node)
            subscriptions += subscription
          }
          open.pushAll(children(node))
        }
      }
    }
    IntLists.group(used.maxOption.getOrElse(-1) + 1, used.toArray, subscriptions.toArray)
  }

  /** These nodes as roots, and what they need. */
  def subset(nodes: Seq[Int]): Forest = {
    val kept = new Array[Boolean](size)
    nodes.foreach(kept(_) = true)
    if (nodes.nonEmpty) (size - 1 to 0 by -1).foreach(n => if (kept(n)) children(n).foreach(kept(_) = true))
    val own = (0 until size).filter(kept(_)).toArray
    val places = new Array[Int](size)
    own.indices.foreach(i => places(own(i)) = i)
    new Forest(
      own.map(kinds(_)), own.map(slots(_)), IntLists(own.map(intervals(_))),
      IntLists(own.map(children(_).map(places(_)))), nodes.map(places(_)).toArray)
  }
}

object Forest {
  final val Leaf: Byte = 0
  final val And: Byte = 1
  final val Or: Byte = 2
}

/** Which nodes of a forest are true for the row that `matcher` is at. Each is found out at most once per row. */
final class Truth(val forest: Forest, matcher: Matcher) {
  import forest._

  // Per node, of the last row that asked: twice the row's stamp, plus one if it was true.
  private val answers = new Array[Int](forest.size)

  def of(node: Int): Boolean = {
    val answer = answers(node)
    val stamp = matcher.stamp
    if ((answer >> 1) == stamp) (answer & 1) == 1
    else {
      val value = kinds(node) match {
        case Forest.Leaf =>
          Codes.contains(intervals.values, intervals.start(node), intervals.end(node), matcher.code(slots(node)))
        case Forest.And => allTrue(node)
        case _ => anyTrue(node)
      }
      answers(node) = 2 * stamp + (if (value) 1 else 0)
      value
    }
  }

  /** To be called when stamps start anew. */
  def forget(): Unit = Arrays.fill(answers, 0)

  private def allTrue(node: Int): Boolean = {
    var i = children.start(node)
    val end = children.end(node)
    while (i < end && of(children.values(i))) i += 1
    i == end
  }

  private def anyTrue(node: Int): Boolean = {
    var i = children.start(node)
    val end = children.end(node)
    while (i < end && !of(children.values(i))) i += 1
    i < end
  }
}
