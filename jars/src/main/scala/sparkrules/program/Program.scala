package sparkrules.program

import org.apache.spark.sql.catalyst.expressions.Expression

import sparkrules.text.TextScan
import sparkrules.value.{ExpressionBytes, IntLists, Keys}

/**
 * A compiled rule set: flat arrays, shared by all tasks of an executor and never written to. `Runner` runs it.
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
    val scans: Array[TextScan],
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
  @transient lazy val scanOf: Array[Int] = TextScan.bySlot(scans, bases.length)

  /** A fresh copy of the slots' expressions: they may hold state. */
  def copyExpressions(): Array[Expression] = ExpressionBytes.read(expressions)
}
