package sparkrules.metrics

/**
 * What a rule has done.
 *
 * @param hits the rows that it matched
 * @param errors the values that it needs which could not be computed
 * @param nanoseconds the time to compute the values that it needs, an equal share where other rules need them, too
 */
final case class RuleCount(id: String, hits: Long, errors: Long, nanoseconds: Long) {
  def +(that: RuleCount): RuleCount =
    RuleCount(id, hits + that.hits, errors + that.errors, nanoseconds + that.nanoseconds)
}

/**
 * What the rules of a version have done.
 *
 * @param errors the values that could not be computed
 * @param nanoseconds the time to match rows, in all tasks
 * @param rules how many there are
 * @param rulesHit how many of them matched
 * @param counts those with most matches, errors or time; most matches first
 */
final case class RuleReport(
    rows: Long, matches: Long, errors: Long, nanoseconds: Long, rules: Int, rulesHit: Int, counts: Seq[RuleCount]) {

  /** Together with what the same rules have done later. */
  def +(that: RuleReport): RuleReport = {
    val summed = (counts ++ that.counts).groupMapReduce(_.id)(identity)(_ + _).values.toSeq
    RuleReport(
      rows + that.rows, matches + that.matches, errors + that.errors, nanoseconds + that.nanoseconds, rules,
      math.max(math.max(rulesHit, that.rulesHit), summed.count(_.hits > 0)), summed.sortBy(c => (-c.hits, c.id)))
  }

  /** The share of the time to match rows that this count is of. */
  def share(count: RuleCount): Double =
    if (nanoseconds == 0) 0.0 else math.min(1.0, count.nanoseconds.toDouble / nanoseconds)

  /** Only the `most` rules with most matches, errors and time each. */
  def first(most: Int): RuleReport =
    if (counts.length <= most) this
    else {
      val orders = Seq[RuleCount => Long](_.hits, _.errors, _.nanoseconds)
      val chosen = orders.flatMap(of => counts.filter(of(_) > 0).sortBy(c => (-of(c), c.id)).take(most)).toSet
      copy(counts = counts.filter(chosen))
    }
}
