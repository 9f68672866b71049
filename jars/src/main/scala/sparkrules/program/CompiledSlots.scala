package sparkrules.program

import org.apache.spark.sql.catalyst.expressions.Expression

import sparkrules.text.TextScan
import sparkrules.value.{ExpressionBytes, Keys}

/**
 * The slots of a program: the values that its rules are about, each computed at most once per row.
 *
 * @param expressions one per slot, serialised by Java because tasks need copies of their own
 * @param bases per slot: the slot of the string that it searches, or -1
 * @param keys per slot: the constants that its value is compared with
 * @param scans searches that are decided together, by one pass over a string
 * @param fallible slots that Spark computes, and may fail to
 */
final class CompiledSlots(
    expressions: Array[Byte],
    val bases: Array[Int],
    val keys: Array[Keys],
    val scans: Array[TextScan],
    val fallible: Array[Int])
    extends Serializable {

  def size: Int = bases.length

  /** Per slot: the scan that decides it, or -1. */
  @transient lazy val scanOf: Array[Int] = TextScan.bySlot(scans, size)

  /** A fresh copy of the slots' expressions: they may hold state. */
  def copyExpressions(): Array[Expression] = ExpressionBytes.read(expressions)
}
