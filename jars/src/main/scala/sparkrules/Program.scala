package sparkrules

import java.io.{ByteArrayInputStream, ByteArrayOutputStream, ObjectInputStream, ObjectOutputStream}

import org.apache.spark.sql.catalyst.expressions.Expression

/**
 * A compiled rule set: flat arrays, shared by all tasks of an executor and never written to. `Matcher` runs it.
 *
 * @param expressions the slots' expressions, serialised by Java because tasks need copies of their own
 * @param bases per slot: the slot whose value it tests, or -1
 * @param scans tests of texts that are decided together, by one pass over a text
 * @param code instructions that report the matching subscriptions, see [[Op]]
 * @param bands where the code of each band of subscriptions begins, see [[Bands]]; one, of all, unless only the first
 *   matches are wanted
 * @param dense the part for which many rows are evaluated at once
 * @param sets the codes of tests that are more than one interval: pairs of first and last
 * @param shared subexpressions that the code asks for as a whole
 * @param hasRepeats whether the code may report a subscription twice, by `Op.EmitOnce`
 * @param fallible slots that Spark computes, and may fail to
 * @param texts per subscription, if rules are to fail as Spark's WHERE would: the slot of its whole text, or -1
 * @param ids subscriptions in the order in which they are reported: highest priority first, then by id
 * @param validity when they can match
 */
final class Program(
    val expressions: Array[Byte],
    val bases: Array[Int],
    val keys: Array[Keys],
    val scans: Array[TextTests],
    val code: Array[Int],
    val bands: Array[Int],
    val dense: Dense,
    val sets: IntLists,
    val shared: Forest,
    val hasRepeats: Boolean,
    val fallible: Array[Int],
    val texts: Array[Int],
    val ids: Ids,
    val priorities: Array[Int],
    val validity: Validity)
    extends Serializable {

  def subscriptions: Int = ids.size

  /** Per slot: the scan that decides it, or -1. */
  @transient lazy val scanOf: Array[Int] = TextTests.bySlot(scans, bases.length)

  /** A fresh copy of the slots' expressions: they may hold state. */
  def copyExpressions(): Array[Expression] = Program.deserialize(expressions)
}

object Program {

  def serialize(expressions: Array[Expression]): Array[Byte] = {
    val bytes = new ByteArrayOutputStream
    val out = new ObjectOutputStream(bytes)
    out.writeObject(expressions)
    out.close()
    bytes.toByteArray
  }

  def deserialize(bytes: Array[Byte]): Array[Expression] = {
    val in = new ObjectInputStream(new ByteArrayInputStream(bytes)) {
      override def resolveClass(description: java.io.ObjectStreamClass): Class[_] =
        try Class.forName(description.getName, false, Thread.currentThread.getContextClassLoader)
        catch { case _: ClassNotFoundException => super.resolveClass(description) }
    }
    in.readObject().asInstanceOf[Array[Expression]]
  }
}

/**
 * The instructions of a program. The first integer is the operation in its lowest five bits, and the slot that it is
 * about above them; operands follow. What is read together lies together: the code of an alternative's remaining tests,
 * and its subscriptions, follow the test that makes it worth a look.
 *
 * {{{
 *   Return
 *   Jump        target
 *   Call        target                                  come back after its Return
 *   EqualElse   point target                            go on if the slot's code is the point, else jump
 *   UpToElse    last target                             ... if it is not NULL's, and not above
 *   FromElse    first target                            ... if it is not below
 *   InElse      first last target                       ... if it lies between
 *   SetElse     set target                              ... if it is in a set
 *   NodeElse    target                                  ... if a shared subexpression (instead of a slot) is true
 *   EqualThen, InThen, SetThen, NodeThen                the same, but jump if it is so, else go on
 *   EqualEmit, UpToEmit, FromEmit, InEmit               report one subscription (instead of a target) if it is so
 *   Emit        n subscription*                         report
 *   EmitOnce    n subscription*                         report those that are not reported yet
 *   UpTo        n last* subscription*                   report those with code <= last; descending
 *   From        n first* subscription*                  report those with first <= code; ascending
 *   UpToOnce, FromOnce                                  the same, those that are not reported yet
 *   Switch      shift first n next target*              jump to the target of code >> shift, or to next
 *   Search      shift n next point* target*             the same for points that are far apart; ascending
 *   Scan        n slot* target*                         call the targets of all slots that a scan finds true; ascending
 * }}}
 */
object Op {
  final val Return = 0
  final val Jump = 1
  final val Call = 2
  final val EqualElse = 3
  final val InElse = 4
  final val SetElse = 5
  final val NodeElse = 6
  final val EqualThen = 7
  final val InThen = 8
  final val SetThen = 9
  final val NodeThen = 10
  final val Emit = 11
  final val EmitOnce = 12
  final val UpTo = 13
  final val From = 14
  final val UpToOnce = 15
  final val FromOnce = 16
  final val Switch = 17
  final val Search = 18
  final val Scan = 19
  final val UpToElse = 20
  final val FromElse = 21
  final val EqualEmit = 22
  final val UpToEmit = 23
  final val FromEmit = 24
  final val InEmit = 25

  final val Bits = 5
  final val Mask = (1 << Bits) - 1
}
