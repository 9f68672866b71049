package sparkrules.program

import sparkrules.store.{ArrowTable, Segment}

/**
 * When rules can match: rule `numbers(i)` from the instant `from(i)`, and no longer at `until(i)`, in microseconds.
 * Rules that always can are not listed.
 */
final class Validity(val numbers: Array[Int], from: Array[Long], until: Array[Long]) extends Serializable {
  def isEmpty: Boolean = numbers.isEmpty

  def isValid(i: Int, instant: Long): Boolean = from(i) <= instant && instant < until(i)
}

object Validity {

  /** @param order the rows of a segment's rules, in the order in which they are numbered */
  def of(segment: Segment, order: Array[Int]): Validity = {
    val limited = order.indices.filter(n => isLimited(segment, order(n))).toArray
    new Validity(
      limited,
      limited.map(n => segment.rules.validFrom(order(n))), // no instant is the first of all
      limited.map(n => end(segment, order(n))))
  }

  /** The first instant at which a rule can no longer match. */
  def end(segment: Segment, row: Int): Long =
    if (segment.rules.validUntil(row) == ArrowTable.NoInstant) Long.MaxValue else segment.rules.validUntil(row)

  private def isLimited(segment: Segment, row: Int): Boolean =
    segment.rules.validFrom(row) != ArrowTable.NoInstant || segment.rules.validUntil(row) != ArrowTable.NoInstant
}

/** Rules of a program that do not take part, a bit for each. */
object Hidden {

  /**
   * Null if there are none.
   *
   * @param rules how many rules the program has
   * @param removed those that the version no longer has
   * @param instant that of the query, if the validity of any rule is limited
   */
  def of(rules: Int, validity: Validity, removed: Array[Int], instant: Option[Long]): Array[Long] = {
    var bits: Array[Long] = null
    def hide(number: Int): Unit = {
      if (bits == null) bits = new Array[Long]((rules + 63) >> 6)
      bits(number >> 6) |= 1L << number
    }
    removed.foreach(hide)
    instant.foreach { now =>
      var i = 0
      while (i < validity.numbers.length) {
        if (!validity.isValid(i, now)) hide(validity.numbers(i))
        i += 1
      }
    }
    bits
  }

  /** Whether a rule is hidden by these bits, which may be null. */
  def isHidden(bits: Array[Long], rule: Int): Boolean = bits != null && (bits(rule >> 6) & (1L << rule)) != 0
}
