package sparkrules

import java.lang.management.ManagementFactory
import java.util.{Map => JMap}

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.BindReferences
import org.apache.spark.sql.classic.Dataset
import org.apache.spark.sql.execution.{ColumnarToRowExec, SparkPlan}
import org.apache.spark.sql.execution.adaptive.AdaptiveSparkPlanExec
import org.apache.spark.util.SizeEstimator

import sparkrules.plan.MatchExec
import sparkrules.version.{RowMatches, VersionMatcher}

/** The kernel alone: the rows of a query in memory, matched again and again by one thread. */
object KernelBench {
  private val Slices = 5

  /** Called from Python. `df` is a query that matches; its plan has the program and the rows to match. */
  def run(df: Dataset[_], warmUpSeconds: Double, seconds: Double): JMap[String, Double] = {
    val exec = withoutAdaptivity(df.queryExecution.executedPlan).collectFirst { case m: MatchExec => m }.get
    val rows = asRows(exec.child).execute().map(_.copy()).collect()
    val inputs = BindReferences.bindReferences(exec.inputs, exec.child.output)
    val matcher = new VersionMatcher(exec.spec.rules, inputs, instant = None)
    val programs = matcher.parts.map(_.program)
    val loop = new Loop(matcher, rows)
    loop.run(warmUpSeconds)
    val (tested, passed) = (matcher.tested, matcher.passed)
    val slices = Seq.fill(Slices)(loop.run(seconds / Slices))
    val (allTested, allPassed) = (matcher.tested - tested, matcher.passed - passed)
    val inOrder = Seq.fill(Slices)(loop.run(seconds / Slices, inOrder = true))
    val matched = slices.map(_.rows).sum
    Map(
      "subscriptions" -> programs.map(_.rules.size).sum.toDouble,
      "bytes" -> programs.map(SizeEstimator.estimate(_)).sum.toDouble,
      "rows" -> rows.length.toDouble,
      "rows_matched" -> matched.toDouble,
      "matches_per_row" -> slices.map(_.matches).sum / matched.toDouble,
      "rows_per_second" -> slices.map(_.rowsPerSecond).sorted.apply(Slices / 2),
      "cpu_share" -> slices.map(_.cpuNanos).sum / slices.map(_.nanos).sum.toDouble,
      "rows_per_second_in_order" -> inOrder.map(_.rowsPerSecond).sorted.apply(Slices / 2),
      "tests_per_row" -> allTested / matched.toDouble,
      "candidates_per_row" -> allPassed / matched.toDouble).asJava
  }

  /** Processor time of this JVM so far: tasks, planning, compiling, collecting garbage. */
  def processSeconds(): Double = ManagementFactory.getOperatingSystemMXBean match {
    case system: com.sun.management.OperatingSystemMXBean => system.getProcessCpuTime / 1e9
    case _ => 0
  }

  private def withoutAdaptivity(plan: SparkPlan): SparkPlan = plan match {
    case adaptive: AdaptiveSparkPlanExec => adaptive.executedPlan
    case other => other
  }

  private def asRows(plan: SparkPlan): SparkPlan = if (plan.supportsColumnar) ColumnarToRowExec(plan) else plan

  private final case class Slice(rows: Long, matches: Long, nanos: Long, cpuNanos: Long) {
    // Of the thread's own time: a busy machine takes the core away, and that is not the kernel's doing.
    def rowsPerSecond: Double = rows * 1e9 / cpuNanos
  }

  /** Goes round and round over the rows, from where it stopped. */
  private final class Loop(matcher: VersionMatcher, rows: Array[InternalRow]) {
    private val threads = ManagementFactory.getThreadMXBean
    private val endless: Iterator[InternalRow] = new Iterator[InternalRow] {
      private var at = -1
      override def hasNext: Boolean = true
      override def next(): InternalRow = {
        at += 1
        if (at == rows.length) at = 0
        rows(at)
      }
    }
    private val matched: Iterator[RowMatches] = matcher.rows(endless, areKept = true)

    def run(seconds: Double, inOrder: Boolean = false): Slice = {
      val (start, startCpu) = (System.nanoTime, threads.getCurrentThreadCpuTime)
      val end = start + (seconds * 1e9).toLong
      var count, matches = 0L
      while ((count & 15) != 0 || System.nanoTime < end) {
        val found = matched.next()
        if (inOrder) found.inOrder
        matches += found.count
        count += 1
      }
      Slice(count, matches, System.nanoTime - start, threads.getCurrentThreadCpuTime - startCpu)
    }
  }
}
