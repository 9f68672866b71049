package sparkrules

import scala.jdk.CollectionConverters._

import org.apache.spark.TaskContext
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.execution.metric.SQLMetric
import org.apache.spark.sql.vectorized.ColumnarBatch

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
    val write = UnsafeProjection.create(projection, available)
    write.initialize(partition)
    new MatchTask(new Answers(rules, inputs, answers, instant, areCopied = true), per, write, metrics)
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
      task.matcher.startChunk(rows.length, rows(_))
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
      task.matcher.startBatch(batch)
      if (chunk == 0) batch.rowIterator.asScala
      else Iterator.range(0, batch.numRows, chunk).flatMap { start =>
        val rows = math.min(chunk, batch.numRows - start)
        task.matcher.startChunk(rows, i => batch.getRow(start + i))
        Iterator.range(start, start + rows).map(batch.getRow)
      }
    })
  }
}

private final class MatchTask(answers: Answers, per: Per, write: UnsafeProjection, metrics: Map[String, SQLMetric]) {
  val matcher: RowMatcher = answers.matcher
  private val joined = new JoinedRow
  private var (rows, matches, written) = (0L, 0L, 0L)
  Option(TaskContext.get()).foreach(_.addTaskCompletionListener[Unit](_ => report()))

  def results(input: Iterator[InternalRow]): Iterator[InternalRow] = per match {
    case Per.Row => input.map { row =>
        run(row)
        written += 1
        write(joined(row, answers.ofRow()))
      }
    case Per.Match => input.flatMap { row =>
        run(row)
        written += matcher.count
        answers.ofMatches().map(answer => write(joined(row, answer)))
      }
    case Per.Subscription => countsOf(input)
  }

  private def countsOf(input: Iterator[InternalRow]): Iterator[InternalRow] = {
    val counts = matcher.parts.map(part => new Array[Long](part.program.subscriptions))
    input.foreach { row =>
      run(row)
      matcher.countInto(counts)
    }
    val count = new GenericInternalRow(2)
    for (p <- counts.indices.iterator; own = counts(p); s <- own.indices.iterator if own(s) > 0) yield {
      count.update(0, matcher.parts(p).program.ids(s))
      count.update(1, own(s))
      written += 1
      write(count)
    }
  }

  private def run(row: InternalRow): Unit = {
    answers.run(row)
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
  }
}
