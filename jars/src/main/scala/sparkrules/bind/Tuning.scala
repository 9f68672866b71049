package sparkrules.bind

import sparkrules.store.Statistics
import sparkrules.value.Codes

/** Adds statistics and costs to the slots of a bound rule set, and chooses the search of their keys accordingly. */
object Tuning {

  /**
   * @param declared per slot: the microseconds that users say it takes, which count more than what was measured
   * @param exact whether the query asks for codes, and not only for the predicates of the rules
   */
  def apply(bound: Bound, statistics: Option[Statistics], declared: Map[Int, Double], exact: Boolean): Bound = {
    val texts = statistics.map(_ => SlotTexts.of(bound.slots.map(_.expression), bound.slots.map(_.base)))
    val needsGaps = new Array[Boolean](bound.slots.length)
    bound.predicates.foreach(_.foreach { predicate =>
      val slot = predicate.slot
      if (!Codes.ignoresGaps(predicate.intervals, bound.slots(slot).keys.maxCode)) needsGaps(slot) = true
    })
    val slots = bound.slots.zipWithIndex.map { case (slot, i) =>
      val shares = statistics.flatMap(_.shares(texts.get(i), slot.keys))
      slot.copy(
        keys = slot.keys.tuned(shares, onlyKeys = !exact && !needsGaps(i)),
        shares = shares,
        microseconds = declared.get(i).orElse(statistics.flatMap(_.microseconds(texts.get(i)))))
    }
    bound.copy(slots = slots)
  }
}
