package sparkrules.metrics

import java.util.BitSet

import sparkrules.store.Version
import sparkrules.version.PinnedRules

/**
 * An operator in one execution of a query: what there is one report of.
 *
 * @param observe the name under which its call asks for the report
 * @param execution the id of the SQL execution
 * @param stream the id of the streaming query, and the number of its micro-batch
 * @param started when its first task had finished, in milliseconds since 1970
 * @param most how many rules are reported, by each order
 */
final class MatchRun(
    val id: Long,
    val version: Version,
    val observe: Option[String],
    val execution: Option[Long],
    val stream: Option[(String, Long)],
    val started: Long,
    val most: Int) {
  private val seen = new BitSet
  private var counts: RunCounts = _
  private var settled: Option[RuleReport] = None

  private[metrics] def add(rules: PinnedRules, instant: Option[Long], sent: Array[Array[Long]]): Unit = synchronized {
    if (counts == null) counts = new RunCounts(rules, instant, seen)
    counts.add(sent)
  }

  /** What the rules have done up to now; None before the first task has finished. */
  def report: Option[RuleReport] = synchronized(merged(most))

  private def merged(most: Int): Option[RuleReport] =
    (settled.toSeq ++ Option(counts).map(_.report(most))).reduceOption(_ + _).map(_.first(most))

  /** Forgets all but the report, and so the compiled rules. Gives what has come since it did so last, for all rules. */
  private[metrics] def settle(): Option[RuleReport] = synchronized {
    val news = Option(counts).map(_.report(Int.MaxValue))
    settled = merged(most)
    counts = null
    news
  }

  /** How many rules the report has, roughly. */
  private[metrics] def size: Int = synchronized(settled.fold(0)(_.counts.length))

  /** Whether there is more than the report. */
  private[metrics] def isOpen: Boolean = synchronized(counts != null)
}
