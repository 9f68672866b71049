package sparkrules.compile

import sparkrules.bind.{Slot, WantedTexts}
import sparkrules.guard.Failing
import sparkrules.text.TextScan

/**
 * How the values of slots are computed, and what that costs.
 *
 * @param withScans whether the searches of one string are decided together
 */
private final class SlotCosts(slots: Array[Slot], withScans: Boolean) {

  /** The searches of one string are one scan. */
  val scans: Array[TextScan] = {
    val searches = slots.indices.flatMap { slot =>
      if (!withScans || slots(slot).base < 0) None else WantedTexts.of(slots(slot).expression).map(slot -> _)
    }
    searches.groupBy { case (slot, _) => slots(slot).base }.toSeq.sortBy(_._1).map(own => TextScan.of(own._2)).toArray
  }

  /** Per slot: the scan that decides it, or -1. */
  val scanOf: Array[Int] = TextScan.bySlot(scans, slots.length)

  /** Whether Spark computes a slot, and may fail to. */
  def isComputed(slot: Int): Boolean = slots(slot).base >= 0 || (slots(slot).expression match {
    case _: Failing => true
    case expression => expression.children.nonEmpty
  })

  /**
   * The cost of computing a slot, in units of a simple predicate. A column is read anyway; Spark must evaluate an
   * expression or a search row by row.
   */
  def expense(slot: Int): Double =
    if (scanOf(slot) >= 0) SlotCosts.Scan else if (isComputed(slot)) SlotCosts.Evaluation else 0.0
}

private object SlotCosts {
  private val Scan = 10.0
  private val Evaluation = 20.0
}
