package sparkrules.plan

import scala.jdk.CollectionConverters._

import org.apache.spark.TaskContext
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.execution.metric.SQLMetric
import org.apache.spark.sql.types.DataType
import org.apache.spark.sql.vectorized.ColumnarBatch

import sparkrules.answer.{AnswerRequest, Answers, OverlapQuestions}
import sparkrules.kernel.RowClock
import sparkrules.metrics.{RuleActivity, TaskCounts}
import sparkrules.python.{AskedRows, CallCounts, PythonWork}
import sparkrules.version.{RowMatches, RowQuestions, VersionMatcher}

/**
 * What a task of [[MatchExec]] does. These are classes and not closures: to clean a closure Spark reads the class file
 * around it, which is gone once a Thrift server has closed the class loader of `--jars`.
 *
 * @param inputs the inputs of the rules' program, bound to the rows that come
 * @param instant that of the query, in microseconds, if it decides which rules can match
 * @param python how to call Python functions, if rules do
 * @param counter where the matches of each rule are counted, if that is wanted
 */
private final class MatchWork(
    request: AnswerRequest,
    per: Per,
    skipsUnmatched: Boolean,
    inputs: Seq[Expression],
    instant: Option[Long],
    output: MatchOutput,
    python: Option[PythonWork],
    metrics: Map[String, SQLMetric],
    counter: Option[RuleActivity.Counter])
    extends Serializable {

  /** The results of a task, given its matcher. */
  def run(partition: Int)(matched: VersionMatcher => Iterator[RowMatches]): Iterator[InternalRow] = {
    val start = System.nanoTime
    val clock = new RowClock
    val matcher = new VersionMatcher(request.rules, inputs, instant, clock)
    val answers = new Answers(matcher, request, areCopied = true)
    val counts = counter.map(_ => new TaskCounts(matcher))
    val writer = output.writer(partition)
    val task = new MatchTask(matcher, answers, per, skipsUnmatched, writer, clock, metrics, counts.orNull)
    for (tally <- counter; own <- counts; context <- Option(TaskContext.get())) {
      context.addTaskCompletionListener[Unit](_ => tally.add(task.sent(own, partition)))
    }
    metrics("setupTime") += System.nanoTime - start
    task.results(matched(matcher))
  }

  /** The matches of rows, which get the results of the Python functions that they need first. */
  def matches(matcher: VersionMatcher, input: Iterator[InternalRow]): Iterator[RowMatches] = python match {
    case None => matcher.rows(input)
    case Some(work) =>
      val counts = new CallCounts
      Option(TaskContext.get()).foreach(_.addTaskCompletionListener[Unit](_ => report(counts)))
      val matching = new RowQuestions(request.rules, inputs, instant, work.calls.length, work.needsAll)
      val questions =
        if (!request.hasOverlaps) matching
        else new OverlapQuestions(matching, request, inputs, instant, work.calls.length)
      matcher.rows(new AskedRows(input, questions, work, counts), areKept = true)
  }

  private def report(counts: CallCounts): Unit = {
    metrics("calls") += counts.made
    metrics("callsSaved") += counts.saved
    metrics("callsRefused") += counts.refused
    metrics("pythonTime") += counts.nanoseconds
  }
}

/** What to write, in terms of the columns that are `available`. */
private final case class MatchOutput(projection: Seq[Expression], available: Seq[Attribute]) {
  def writer(partition: Int): UnsafeProjection = {
    val writer = UnsafeProjection.create(projection, available)
    writer.initialize(partition)
    writer
  }
}

private final class MatchRows(work: MatchWork)
    extends ((Int, Iterator[InternalRow]) => Iterator[InternalRow])
    with Serializable {
  override def apply(partition: Int, input: Iterator[InternalRow]): Iterator[InternalRow] =
    work.run(partition)(work.matches(_, input))
}

/** @param types those of the columns that the plan says a batch has */
private final class MatchBatches(work: MatchWork, types: Array[DataType])
    extends ((Int, Iterator[ColumnarBatch]) => Iterator[InternalRow])
    with Serializable {
  override def apply(partition: Int, input: Iterator[ColumnarBatch]): Iterator[InternalRow] = {
    lazy val toRow = UnsafeProjection.create(types)
    def asRows(batch: ColumnarBatch): Option[Iterator[InternalRow]] =
      Option.when(!KnownColumns.areIn(batch))(batch.rowIterator.asScala.map(toRow))
    val batches = new FreedBatches(input).map(MatchBatches.first(_, types.length))
    work.run(partition)(_.batches(batches, asRows))
  }
}

private object MatchBatches {

  /**
   * A batch without what its source has appended for itself: Iceberg reads the positions of rows where a file has
   * deleted ones. Answers are joined to a row after its last column.
   */
  def first(batch: ColumnarBatch, columns: Int): ColumnarBatch =
    if (batch.numCols == columns && batch.getClass == classOf[ColumnarBatch]) batch
    else new ColumnarBatch(Array.tabulate(columns)(batch.column), batch.numRows)
}

/** Batches, each of which is freed before the next one is asked for, as by Spark where it makes rows of them. */
private final class FreedBatches(input: Iterator[ColumnarBatch]) extends Iterator[ColumnarBatch] {
  private var last: ColumnarBatch = _

  override def hasNext: Boolean = {
    free()
    input.hasNext
  }

  override def next(): ColumnarBatch = {
    free()
    last = input.next()
    last
  }

  private def free(): Unit = if (last != null) {
    last.closeIfFreeable()
    last = null
  }
}

/** @param counts where matches are counted by rule, or null */
private final class MatchTask(
    matcher: VersionMatcher,
    answers: Answers,
    per: Per,
    skipsUnmatched: Boolean,
    write: UnsafeProjection,
    clock: RowClock,
    metrics: Map[String, SQLMetric],
    counts: TaskCounts) {
  private val joined = new JoinedRow
  private var (rows, matches, outputRows) = (0L, 0L, 0L)
  Option(TaskContext.get()).foreach(_.addTaskCompletionListener[Unit](_ => report()))

  def results(input: Iterator[RowMatches]): Iterator[InternalRow] = per match {
    case Per.Row => rowsOf(input).map { found =>
        outputRows += 1
        val start = clock.now()
        val result = write(joined(found.row, answers.ofRow(found)))
        clock.wrote(start)
        result
      }
    case Per.Match => input.flatMap { found =>
        count(found)
        outputRows += found.count
        val start = clock.now()
        val own = answers.ofMatches(found)
        clock.wrote(start)
        written(own.map(answer => write(joined(found.row, answer))))
      }
    case Per.Rule => countsOf(input)
  }

  private def rowsOf(input: Iterator[RowMatches]): Iterator[RowMatches] = input.filter { found =>
    count(found)
    !skipsUnmatched || found.count > 0
  }

  /** Results that are written, and timed, when they are asked for. */
  private def written(results: Iterator[InternalRow]): Iterator[InternalRow] = new Iterator[InternalRow] {
    override def hasNext: Boolean = results.hasNext
    override def next(): InternalRow = {
      val start = clock.now()
      val result = results.next()
      clock.wrote(start)
      result
    }
  }

  private def countsOf(input: Iterator[RowMatches]): Iterator[InternalRow] = {
    val all = if (counts == null) new TaskCounts(matcher, isTimed = false) else counts
    input.foreach { found =>
      count(found)
      val start = clock.now()
      if (counts == null) all.add(found)
      clock.wrote(start)
    }
    val result = new GenericInternalRow(2)
    val ofParts = all.ofRules
    for (p <- ofParts.indices.iterator; own = ofParts(p); rule <- own.indices.iterator if own(rule) > 0) yield {
      result.update(0, matcher.parts(p).program.rules.ids(rule))
      result.update(1, own(rule))
      outputRows += 1
      write(result)
    }
  }

  private def count(found: RowMatches): Unit = {
    rows += 1
    matches += found.count
    if (counts != null) counts.add(found)
  }

  /** What the task has counted so far. */
  def sent(own: TaskCounts, partition: Int): Array[Array[Long]] = own.sent(partition, rows, matches, clock.matching)

  private def report(): Unit = {
    metrics("numOutputRows") += outputRows
    metrics("rows") += rows
    metrics("matches") += matches
    metrics("tested") += matcher.tested
    metrics("passed") += matcher.passed
    metrics("errors") += matcher.errors
    metrics("matchTime") += clock.matching
    metrics("writeTime") += clock.writing
  }
}
