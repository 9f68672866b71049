package sparkrules.metrics

import scala.collection.mutable

import org.apache.spark.SparkContext
import org.apache.spark.scheduler.{SparkListener, SparkListenerApplicationEnd, SparkListenerEvent}
import org.apache.spark.sparkrules.{DriverParts, RulesTab}
import org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionEnd
import org.apache.spark.util.CollectionAccumulator

import sparkrules.store.Version
import sparkrules.version.PinnedRules

/** What rules have done in an application, on its driver. All of it is bounded: what is oldest is forgotten first. */
final class RuleActivity private (context: SparkContext) {
  import RuleActivity._

  private val kept = mutable.ArrayDeque.empty[MatchRun]
  private val byRuleSet = mutable.LinkedHashMap.empty[(String, String), RuleSetTotals]
  private var last = 0L
  private val gauges = new RuleGauges

  private def attach(): Unit = {
    DriverParts.addListener(context, new Ends, "sparkrules")
    DriverParts.register(context, "sparkrules", gauges.registry)
    RulesTab.attach(context, new RulePage(this))
  }

  /**
   * An operator is about to be executed: what its tasks add [[TaskCounts.sent]] to.
   *
   * @param observe the name that its call asks for
   * @param most how many rules are reported
   */
  def counter(rules: PinnedRules, observe: Option[String], most: Int, instant: Option[Long]): Counter = {
    def property(key: String): Option[String] = Option(context.getLocalProperty(key))
    val stream = for (query <- property(QueryId); batch <- property(BatchId)) yield (query, batch.toLong)
    val kept = if (observe.isDefined) MostObserved else most
    val made = new RunCounter(rules, instant, begun(rules.key.version, observe, _, stream, kept))
    context.register(made)
    made
  }

  private def begun(
      version: Version,
      observe: Option[String],
      execution: Option[Long],
      stream: Option[(String, Long)],
      most: Int): MatchRun = {
    val run = synchronized {
      last += 1
      val run = new MatchRun(last, version, observe, execution, stream, System.currentTimeMillis, most)
      kept += run
      run
    }
    forgetOldest()
    run
  }

  /** The runs that are remembered, the oldest first. */
  def runs: Seq[MatchRun] = synchronized(kept.toSeq)

  /** What the rule sets have done in runs that have ended. */
  def totals: Seq[RuleSetTotals] = synchronized(byRuleSet.values.toSeq)

  private def forgetOldest(): Unit = {
    val all = runs
    all.filter(_.isOpen).dropRight(MostOpen).foreach(settle)
    val sizes = all.reverseIterator.map(_.size).scanLeft(0)(_ + _).drop(1)
    val enough = math.min(MostRuns, sizes.takeWhile(_ <= MostCounts).size)
    val old = all.dropRight(math.max(enough, 1))
    old.foreach(settle)
    if (old.nonEmpty) synchronized(kept.subtractAll(old))
  }

  private def settle(run: MatchRun): Unit = run.settle().foreach { news =>
    val totals = synchronized {
      val key = (run.version.store, run.version.ruleSet)
      if (byRuleSet.size >= MostRuleSets && !byRuleSet.contains(key)) byRuleSet.remove(byRuleSet.head._1)
      byRuleSet.getOrElseUpdate(key, new RuleSetTotals(run.version.store, run.version.ruleSet))
    }
    totals.add(run.version, news)
    gauges.show(this.totals, run.most)
  }

  private final class Ends extends SparkListener {
    override def onOtherEvent(event: SparkListenerEvent): Unit = event match {
      case end: SparkListenerSQLExecutionEnd => runs.filter(_.execution.contains(end.executionId)).foreach(settle)
      case _ =>
    }
    override def onApplicationEnd(end: SparkListenerApplicationEnd): Unit = RuleActivity.forget(context)
  }
}

object RuleActivity {

  /** What a task adds its counts to. */
  type Counter = CollectionAccumulator[Array[Array[Long]]]

  private val QueryId = "sql.streaming.queryId"
  private val BatchId = "streaming.sql.batchId"

  private val MostRuns = 1000
  private val MostRuleSets = 100
  // Runs that hold compiled rules: those that have not ended, or were started outside of an SQL execution.
  private val MostOpen = 50
  // Rules of a run that is observed by its name, and of all runs together.
  private val MostObserved = 100000
  private val MostCounts = 1000000

  private var current: Option[(SparkContext, RuleActivity)] = None

  /** That of an application. */
  def of(context: SparkContext): RuleActivity = synchronized {
    known(context).getOrElse {
      val activity = new RuleActivity(context)
      activity.attach()
      current = Some((context, activity))
      activity
    }
  }

  /** That of an application, if it has matched anything. */
  def known(context: SparkContext): Option[RuleActivity] =
    synchronized(current.collect { case (own, activity) if own eq context => activity })

  private def forget(context: SparkContext): Unit = synchronized {
    if (current.exists(_._1 eq context)) current = None
  }
}
