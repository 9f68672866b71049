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
   * The cost of computing a slot, in units of a simple predicate, with the string that it searches. A column is read
   * anyway; Spark must evaluate an expression or a search row by row, which takes as long as users say, or as was
   * measured.
   */
  val expense: Array[Double] = {
    val own = slots.indices.map { slot =>
      if (scanOf(slot) >= 0) SlotCosts.Scan
      else if (!isComputed(slot)) 0.0
      else slots(slot).microseconds.fold(SlotCosts.Evaluation) { known =>
        // Never as cheap as a column, which cannot fail and is read for every row.
        (known / SlotCosts.Predicate).max(1.0).min(SlotCosts.Most)
      }
    }
    Array.tabulate(slots.length)(slot => own(slot) + (if (slots(slot).base < 0) 0.0 else own(slots(slot).base)))
  }
}

private object SlotCosts {
  private val Scan = 10.0
  private val Evaluation = 20.0

  // The microseconds that a simple predicate takes.
  private val Predicate = 0.005

  // More than an hour, and still small enough to be multiplied.
  private val Most = 1e12

  /** Whether something that costs so much is to be put off until cheaper predicates have been evaluated. */
  def isExpensive(expense: Double): Boolean = expense > Scan
}
