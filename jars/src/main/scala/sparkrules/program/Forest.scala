package sparkrules.program

import scala.collection.mutable
import scala.collection.mutable.ArrayBuffer

import sparkrules.value.IntLists

/**
 * The shared subexpressions of a rule set, bound to a table. Children are numbered before their parents.
 *
 * @param kinds per node: [[Forest.Predicate]], [[Forest.And]] or [[Forest.Or]]
 * @param slots per node: the slot of a predicate, or -1
 * @param intervals per node: the codes for which a predicate is true, pairs of first and last
 * @param children per node: its children, those likely to decide first
 * @param roots per rule (or whatever else asks): its node
 */
final class Forest(
    val kinds: Array[Byte],
    val slots: Array[Int],
    val intervals: IntLists,
    val children: IntLists,
    val roots: Array[Int])
    extends Serializable {

  def size: Int = kinds.length

  /** Per slot: the rules that have a predicate of it. Needed only where errors are asked for. */
  @transient lazy val users: IntLists = {
    val (used, rules) = (ArrayBuffer.empty[Int], ArrayBuffer.empty[Int])
    roots.indices.foreach { rule =>
      val (seen, open) = (mutable.HashSet.empty[Int], mutable.Stack(roots(rule)))
      while (open.nonEmpty) {
        val node = open.pop()
        if (seen.add(node)) {
          if (kinds(node) == Forest.Predicate && seen.add(-1 - slots(node))) {
            used += slots(node)
            rules += rule
          }
          open.pushAll(children(node))
        }
      }
    }
    IntLists.group(used.maxOption.getOrElse(-1) + 1, used.toArray, rules.toArray)
  }

  /**
   * These nodes as roots, and what they need.
   *
   * @param inOrder the children of a node, in the order in which they are to be evaluated
   */
  def subset(nodes: Seq[Int], inOrder: Int => Array[Int] = children(_)): Forest = {
    val kept = new Array[Boolean](size)
    nodes.foreach(kept(_) = true)
    if (nodes.nonEmpty) (size - 1 to 0 by -1).foreach(n => if (kept(n)) children(n).foreach(kept(_) = true))
    val own = (0 until size).filter(kept(_)).toArray
    val places = new Array[Int](size)
    own.indices.foreach(i => places(own(i)) = i)
    new Forest(
      own.map(kinds(_)), own.map(slots(_)), IntLists(own.map(intervals(_))),
      IntLists(own.map(inOrder(_).map(places(_)))), nodes.map(places(_)).toArray)
  }
}

object Forest {
  final val Predicate: Byte = 0
  final val And: Byte = 1
  final val Or: Byte = 2
}
