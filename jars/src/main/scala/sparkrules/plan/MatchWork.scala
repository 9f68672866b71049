package sparkrules.plan

import scala.jdk.CollectionConverters._

import org.apache.spark.TaskContext
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.execution.metric.SQLMetric
import org.apache.spark.sql.vectorized.ColumnarBatch

import sparkrules.answer.{Answer, Answers}
import sparkrules.version.{PinnedRules, VersionMatcher}

/**
 * What a task of [[MatchExec]] does. These are classes and not closures: to clean a closure Spark reads the class file
 * around it, which is gone once a Thrift server has closed the class loader of `--jars`.
 *
 * @param inputs the inputs of the rules' program, bound to the rows that come
 * @param projection what to write, in terms of `available`
 */
private final class MatchWork(
    rules: PinnedRules,
    inputs: Seq[Expression],
    per: Per,
    answers: Seq[Answer],
    instant: Option[Long],
    projection: Seq[Expression],
    available: Seq[Attribute],
    metrics: Map[String, SQLMetric])
    extends Serializable {

  def start(partition: Int): MatchTask = {
    val start = System.nanoTime
    val write = UnsafeProjection.create(projection, available)
    write.initialize(partition)
    val task = new MatchTask(new Answers(rules, inputs, answers, instant, areCopied = true), per, write, metrics)
    metrics("setupTime") += System.nanoTime - start
    task
  }
}

private final class MatchRows(work: MatchWork)
    extends ((Int, Iterator[InternalRow]) => Iterator[InternalRow])
    with Serializable {
  override def apply(partition: Int, input: Iterator[InternalRow]): Iterator[InternalRow] = {
    val task = work.start(partition)
    val chunk = task.matcher.chunk
    if (chunk == 0) task.results(input)
    else task.results(input.map(_.copy()).grouped(chunk).flatMap { rows =>
      task.ahead(task.matcher.startChunk(rows.length, rows(_)))
      rows
    })
  }
}

private final class MatchBatches(work: MatchWork)
    extends ((Int, Iterator[ColumnarBatch]) => Iterator[InternalRow])
    with Serializable {
  override def apply(partition: Int, input: Iterator[ColumnarBatch]): Iterator[InternalRow] = {
    val task = work.start(partition)
    val chunk = task.matcher.chunk
    task.results(input.flatMap { batch =>
      task.ahead(task.matcher.startBatch(batch))
      if (chunk == 0) batch.rowIterator.asScala
      else Iterator.range(0, batch.numRows, chunk).flatMap { start =>
        val rows = math.min(chunk, batch.numRows - start)
        task.ahead(task.matcher.startChunk(rows, i => batch.getRow(start + i)))
        Iterator.range(start, start + rows).map(batch.getRow)
      }
    })
  }
}

private final class MatchTask(answers: Answers, per: Per, write: UnsafeProjection, metrics: Map[String, SQLMetric]) {
  val matcher: VersionMatcher = answers.matcher
  private val joined = new JoinedRow
  private val times = new MatchTimes
  private var (rows, matches, written) = (0L, 0L, 0L)
  Option(TaskContext.get()).foreach(_.addTaskCompletionListener[Unit](_ => report()))

  def results(input: Iterator[InternalRow]): Iterator[InternalRow] = per match {
    case Per.Row => input.map { row =>
        run(row)
        written += 1
        val start = times.now()
        val result = write(joined(row, answers.ofRow()))
        times.wrote(start)
        result
      }
    case Per.Match => input.flatMap { row =>
        run(row)
        written += matcher.count
        times.written(answers.ofMatches().map(answer => write(joined(row, answer))))
      }
    case Per.Subscription => countsOf(input)
  }

  private def countsOf(input: Iterator[InternalRow]): Iterator[InternalRow] = {
    val counts = matcher.parts.map(part => new Array[Long](part.program.subscriptions))
    input.foreach { row =>
      run(row)
      val start = times.now()
      matcher.countInto(counts)
      times.wrote(start)
    }
    val count = new GenericInternalRow(2)
    for (p <- counts.indices.iterator; own = counts(p); s <- own.indices.iterator if own(s) > 0) yield {
      count.update(0, matcher.parts(p).program.ids(s))
      count.update(1, own(s))
      written += 1
      write(count)
    }
  }

  /** What is done for many rows at once, before they are run. */
  def ahead(work: => Unit): Unit = {
    val start = System.nanoTime
    work
    times.matching += System.nanoTime - start
  }

  private def run(row: InternalRow): Unit = {
    times.next()
    val start = times.now()
    answers.run(row)
    times.matched(start)
    rows += 1
    matches += matcher.count
  }

  private def report(): Unit = {
    metrics("numOutputRows") += written
    metrics("rows") += rows
    metrics("matches") += matches
    metrics("tests") += matcher.tests
    metrics("candidates") += matcher.candidates
    metrics("errors") += matcher.errors
    metrics("matchTime") += times.matching
    metrics("writeTime") += times.writing
  }
}

/**
 * How long a task takes to match and to write, in nanoseconds. What comes between two rows, before and after the match,
 * does not count. To ask the clock takes as long as some tests of rules: the faster rows are, the fewer of them are
 * timed, each for those before it as well.
 */
private final class MatchTimes {
  private val (slow, longestStep) = (4000L, 31L) // rows that take 4 microseconds are all timed, which costs them 2 %

  var (matching, writing) = (0L, 0L)
  private var (usual, own) = (slow, 0L) // of the rows timed lately, and of the last one
  private var (step, left) = (1L, 1L)
  private var weight = 0L // how many rows the current one stands for

  /** To be called before each row. */
  def next(): Unit = {
    if (weight > 0L) choose()
    left -= 1
    weight = if (left == 0L) step else 0L
  }

  private def choose(): Unit = {
    usual += (own - usual) / 16
    own = 0
    step = math.min(longestStep, math.max(1L, slow / math.max(usual, 1L)))
    left = step
  }

  def now(): Long = if (weight == 0L) 0L else System.nanoTime

  def matched(start: Long): Unit = if (weight > 0L) matching += weight * since(start)

  def wrote(start: Long): Unit = if (weight > 0L) writing += weight * since(start)

  private def since(start: Long): Long = {
    val taken = System.nanoTime - start
    own += taken
    taken
  }

  /** Results of a row that are made one by one, as they are asked for. */
  def written(results: => Iterator[InternalRow]): Iterator[InternalRow] =
    if (weight == 0L) results
    else {
      val start = now()
      val made = results
      wrote(start)
      new Iterator[InternalRow] {
        override def hasNext: Boolean = made.hasNext
        override def next(): InternalRow = {
          val start = now()
          val result = made.next()
          wrote(start)
          result
        }
      }
    }
}
