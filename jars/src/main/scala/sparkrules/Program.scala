package sparkrules

import java.io.{ByteArrayInputStream, ByteArrayOutputStream, ObjectInputStream, ObjectOutputStream}

import scala.collection.mutable
import scala.collection.mutable.ArrayBuffer

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.unsafe.types.UTF8String

/**
 * A compiled rule set: flat arrays, shared by all tasks of an executor and never written to.
 *
 * The forest of shared subexpressions is evaluated from both ends. A leaf that becomes true *fires*: it goes up to the
 * nodes in `up`, where an AND appears under one child only, its access child, and an OR under each. What an AND needs
 * besides is asked for from above, by evaluating its other children on demand. `Matcher` is the state that this needs.
 *
 * @param expressions the slots' expressions, serialised by Java because tasks need copies of their own
 * @param bases per slot: the slot whose value it tests, or -1
 * @param kinds per node: [[Program.Leaf]], [[Program.And]] or [[Program.Or]]
 * @param leafSlots per node: the slot of a leaf
 * @param intervals per node: the codes for which a leaf is true, pairs of first and last
 * @param children per node: its children, those likely to decide first
 * @param up per node: the nodes that firing may make true
 * @param ends per node: the subscriptions that are true when it is
 * @param roots per subscription: its node
 * @param always nodes that are true for every row
 * @param drivers slots to be computed for every row, because they have triggers
 * @param triggers per slot: which leaves fire for a code
 * @param fallible slots that Spark computes, and may fail to
 * @param texts per subscription, if rules are to fail as Spark's WHERE would: the slot of its whole text, or -1
 * @param ids subscriptions in the order in which they are reported: highest priority first, then by id
 */
final class Program(
    val expressions: Array[Byte],
    val bases: Array[Int],
    val keys: Array[Keys],
    val kinds: Array[Byte],
    val leafSlots: Array[Int],
    val intervals: IntLists,
    val children: IntLists,
    val up: IntLists,
    val ends: IntLists,
    val roots: Array[Int],
    val always: Array[Int],
    val drivers: Array[Int],
    val triggers: Array[Triggers],
    val fallible: Array[Int],
    val texts: Array[Int],
    val ids: Array[UTF8String],
    val priorities: Array[Int])
    extends Serializable {

  def subscriptions: Int = ids.length

  /** Per slot: the subscriptions that have a test of it. Needed only where errors are asked for. */
  @transient lazy val users: IntLists = {
    val (slots, subscriptions) = (ArrayBuffer.empty[Int], ArrayBuffer.empty[Int])
    roots.indices.foreach { subscription =>
      val (seen, open) = (mutable.HashSet.empty[Int], mutable.Stack(roots(subscription)))
      while (open.nonEmpty) {
        val node = open.pop()
        if (seen.add(node)) {
          if (kinds(node) == Program.Leaf && seen.add(-1 - leafSlots(node))) {
            slots += leafSlots(node)
            subscriptions += subscription
          }
          open.pushAll(children(node))
        }
      }
    }
    IntLists.group(bases.length, slots.toArray, subscriptions.toArray)
  }

  /** A fresh copy of the slots' expressions: they may hold state. */
  def copyExpressions(): Array[Expression] = Program.deserialize(expressions)
}

object Program {
  final val Leaf: Byte = 0
  final val And: Byte = 1
  final val Or: Byte = 2

  def serialize(expressions: Array[Expression]): Array[Byte] = {
    val bytes = new ByteArrayOutputStream
    val out = new ObjectOutputStream(bytes)
    out.writeObject(expressions)
    out.close()
    bytes.toByteArray
  }

  private def deserialize(bytes: Array[Byte]): Array[Expression] = {
    val in = new ObjectInputStream(new ByteArrayInputStream(bytes)) {
      override def resolveClass(description: java.io.ObjectStreamClass): Class[_] =
        try Class.forName(description.getName, false, Thread.currentThread.getContextClassLoader)
        catch { case _: ClassNotFoundException => super.resolveClass(description) }
    }
    in.readObject().asInstanceOf[Array[Expression]]
  }
}

/**
 * Which leaves of one slot fire for a code.
 *
 * @param points leaves per code, for tests that are true for single codes
 * @param upTo the last codes of tests that are true from code 1 on, descending; `upToNodes` are their leaves
 * @param from the first codes of all other tests, ascending; `fromLast` their last codes, `fromNodes` their leaves
 */
final class Triggers(
    val points: IntLists,
    val upTo: Array[Int],
    val upToNodes: Array[Int],
    val from: Array[Int],
    val fromLast: Array[Int],
    val fromNodes: Array[Int])
    extends Serializable
