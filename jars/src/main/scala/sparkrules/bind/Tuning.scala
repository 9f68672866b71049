package sparkrules.bind

import sparkrules.store.Statistics
import sparkrules.value.Codes

/** Gives the slots of a bound rule set what statistics say of them, and keys that are searched accordingly. */
object Tuning {

  /** @param exact whether codes are wanted for themselves, and not only for the tests of the rules */
  def apply(bound: Bound, statistics: Option[Statistics], exact: Boolean): Bound = {
    val texts = statistics.map(_ => SlotTexts.of(bound.slots.map(_.expression), bound.slots.map(_.base)))
    val needsGaps = new Array[Boolean](bound.slots.length)
    bound.predicates.foreach(_.foreach { leaf =>
      if (!Codes.ignoresGaps(leaf.intervals, bound.slots(leaf.slot).keys.maxCode)) needsGaps(leaf.slot) = true
    })
    val slots = bound.slots.zipWithIndex.map { case (slot, i) =>
      val shares = statistics.flatMap(_.shares(texts.get(i), slot.keys))
      slot.copy(keys = slot.keys.tuned(shares, onlyKeys = !exact && !needsGaps(i)), shares = shares)
    }
    bound.copy(slots = slots)
  }
}
