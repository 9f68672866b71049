package sparkrules.kernel

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.vectorized.ColumnarBatch

/**
 * Gives rows to runners, and is the only way to do so: a runner must see a batch before its rows, and some rules are
 * evaluated for a chunk of rows before these are run one by one. In all three methods `result` is called once per row,
 * after the runners have matched it; what it reads from them is valid until the next row.
 */
final class RowFeed(runners: Array[Runner], clock: RowClock) {
  private val chunk = runners.map(_.chunk).max

  /**
   * Matches rows as they come.
   *
   * @param areKept whether a row stays as it is when the next one is asked for; else chunks consist of copies
   */
  def rows[A](input: Iterator[InternalRow], areKept: Boolean)(result: InternalRow => A): Iterator[A] =
    if (chunk > 0) new Chunks(input, areKept, result)
    else new Iterator[A] {
      override def hasNext: Boolean = input.hasNext
      override def next(): A = run(input.next(), result)
    }

  /**
   * Matches the rows of batches.
   *
   * @param asRows the rows of a batch whose columns are not to be read by themselves; each is valid until the next
   */
  def batches[A](input: Iterator[ColumnarBatch], asRows: ColumnarBatch => Option[Iterator[InternalRow]])(
      result: InternalRow => A): Iterator[A] =
    input.flatMap { batch =>
      asRows(batch) match {
        case None => new BatchRows(batch, result)
        case Some(own) =>
          runners.foreach(_.startRows())
          rows(own, areKept = false)(result)
      }
    }

  /** Matches a single row. */
  def row[A](row: InternalRow)(result: InternalRow => A): A = {
    if (chunk > 0) startChunk(1, _ => row)
    run(row, result)
  }

  private final class Chunks[A](input: Iterator[InternalRow], areKept: Boolean, result: InternalRow => A)
      extends Iterator[A] {
    private val rows = new Array[InternalRow](chunk)
    private var (at, count) = (0, 0)

    override def hasNext: Boolean = at < count || input.hasNext

    override def next(): A = {
      if (at == count) fill()
      at += 1
      run(rows(at - 1), result)
    }

    private def fill(): Unit = {
      at = 0
      count = 0
      while (count < chunk && input.hasNext) {
        val row = input.next()
        rows(count) = if (areKept) row else row.copy()
        count += 1
      }
      if (count == 0) throw new NoSuchElementException("no more rows")
      startChunk(count, rows(_))
    }
  }

  private final class BatchRows[A](batch: ColumnarBatch, result: InternalRow => A) extends Iterator[A] {
    private val rows = batch.numRows
    private var (at, chunkEnd) = (0, 0)

    locally {
      val start = System.nanoTime
      runners.foreach(_.startBatch(batch))
      clock.prepared(start)
    }

    override def hasNext: Boolean = at < rows

    override def next(): A = {
      if (at == rows) throw new NoSuchElementException("no more rows")
      if (chunk > 0 && at == chunkEnd) {
        chunkEnd = math.min(at + chunk, rows)
        val start = at
        startChunk(chunkEnd - start, i => batch.getRow(start + i))
      }
      at += 1
      run(batch.getRow(at - 1), result)
    }
  }

  private def startChunk(count: Int, at: Int => InternalRow): Unit = {
    val start = System.nanoTime
    runners.foreach(_.startChunk(count, at))
    clock.prepared(start)
  }

  private def run[A](row: InternalRow, result: InternalRow => A): A = {
    clock.nextRow()
    val start = clock.now()
    var i = 0
    while (i < runners.length) { runners(i).run(row); i += 1 }
    val own = result(row)
    clock.matched(start)
    own
  }
}
