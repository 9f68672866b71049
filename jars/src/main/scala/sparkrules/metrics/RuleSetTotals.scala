package sparkrules.metrics

import scala.collection.mutable

import sparkrules.store.Version

/** What the rules of a rule set have done in all runs that have ended, of whatever version. */
final class RuleSetTotals(val store: String, val ruleSet: String) {
  private var sum = RuleReport(0, 0, 0, 0, 0, 0, Nil)
  private var count = 0L
  private var newest = 0L
  private val byId = mutable.HashMap.empty[String, RuleCount]
  // The rules that have matched as rules of the newest version.
  private val hitNow = mutable.HashSet.empty[String]

  private[metrics] def add(version: Version, report: RuleReport): Unit = synchronized {
    if (version.number > newest) {
      newest = version.number
      hitNow.clear()
    }
    count += 1
    report.counts.foreach { own =>
      if (byId.size < RuleSetTotals.MostRules || byId.contains(own.id)) {
        byId.updateWith(own.id)(before => Some(before.fold(own)(_ + own)))
        if (own.hits > 0 && version.number == newest) hitNow += own.id
      }
    }
    val rules = if (version.number == newest) report.rules else sum.rules
    sum = RuleReport(
      sum.rows + report.rows, sum.matches + report.matches, sum.errors + report.errors,
      sum.nanoseconds + report.nanoseconds, rules, hitNow.size, Nil)
  }

  /** How many runs there were. */
  def runs: Long = synchronized(count)

  /** The newest version that was used. */
  def version: Long = synchronized(newest)

  /** The sums, with the `most` rules with most matches, errors and time each. Rules are those of the newest version. */
  def report(most: Int): RuleReport = synchronized {
    sum.copy(counts = byId.values.toSeq.sortBy(c => (-c.hits, c.id))).first(most)
  }
}

private object RuleSetTotals {
  // Further rules are not remembered by their ids.
  private val MostRules = 100000
}
