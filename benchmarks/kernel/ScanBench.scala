package sparkrules

import java.util.concurrent.atomic.AtomicLong

import org.apache.spark.scheduler.{SparkListener, SparkListenerTaskEnd}
import org.apache.spark.sql.classic.Dataset

import sparkrules.plan.Match
import sparkrules.scan.ScanFilter
import sparkrules.store.StoreAccess

/** What scan filters cost and save. Called from Python. */
object ScanBench {

  /** Counts what tasks read. */
  final class Meter extends SparkListener {
    private val counted = new AtomicLong
    override def onTaskEnd(task: SparkListenerTaskEnd): Unit =
      Option(task.taskMetrics).foreach(metrics => counted.addAndGet(metrics.inputMetrics.bytesRead))
    def bytes(): Long = counted.get
  }

  def meter(): Meter = new Meter

  /** Seconds to find the filter of a query that matches. */
  def findSeconds(df: Dataset[_]): Double = {
    val rules = df.queryExecution.optimizedPlan.collectFirst { case matched: Match => matched.spec.rules }.get
    val columns = rules.parts.flatMap(_.bound.columns).toSet
    val statistics =
      rules.key.statistics.map(StoreAccess.of(df.sparkSession).statistics(rules.key.version.ruleSet, _))
    val start = System.nanoTime
    // As if the query asked for all rules by name: what is found then is not remembered, and would take no time.
    ScanFilter.of(rules, columns, statistics, None, isWanted = Some((_, _) => true))
    (System.nanoTime - start) / 1e9
  }
}
