package sparkrules.python

import scala.collection.mutable
import scala.collection.mutable.ArrayBuffer
import scala.util.control.NonFatal

import org.apache.spark.sparkrules.CallBudget
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Expression, UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.types.DataType

import sparkrules.kernel.{AskedRow, Asking, FailedCall, OpenCall, QuestionRunner}

/**
 * What a task needs to call Python functions.
 *
 * @param calls in the order in which they are made, where a row needs several
 * @param guarded the same, by functions that return what they raise, where these can be had
 * @param arguments all arguments of the calls, bound to the rows that come
 * @param rowTypes the types of the columns of these rows
 * @param bufferBytes how many bytes of rows are collected before functions are called for them
 */
final class PythonWork(
    val calls: Seq[PythonCall],
    val steps: Seq[PythonSteps],
    val guarded: Seq[Option[PythonSteps]],
    val arguments: Seq[Expression],
    val rowTypes: Array[DataType],
    val needsAll: Boolean,
    val bufferBytes: Long,
    val mostFailures: Long,
    val budget: Option[CallBudget])
    extends Serializable

/** What a task has made of calls: those made, refused by the budget, and saved; and the nanoseconds in Python. */
final class CallCounts {
  var made, refused, saved, nanoseconds = 0L
}

/**
 * Gives rows the results of those calls of Python functions that rules still need for them; the order of rows stays.
 *
 * Rows are collected until there are enough for large batches. Then the first function is called for those of them that
 * need it, the next for those that need it now, and so on. Equal calls are made once for all rows that are collected.
 */
final class AskedRows(input: Iterator[InternalRow], questions: Asking, work: PythonWork, counts: CallCounts)
    extends Iterator[InternalRow] {
  import work.calls

  private val copy = UnsafeProjection.create(work.rowTypes)
  private val rows = ArrayBuffer.empty[AskedRow]
  private var (at, isFirst) = (0, true)
  // Calls of the same function know each other's results.
  private val functions = calls.map(_.function).distinct
  private val functionOf = calls.map(call => functions.indexOf(call.function)).toArray
  private val callers = functions.map { function =>
    val i = calls.indexWhere(_.function == function)
    new PythonFunction(work.steps(i), work.guarded(i), work.mostFailures)
  }
  private val known = functions.map(_ => mutable.HashMap.empty[UnsafeRow, Any])
  private val projections = calls.map(call => UnsafeProjection.create(call.arguments.map(work.arguments(_))))

  override def hasNext: Boolean = at < rows.length || input.hasNext

  override def next(): InternalRow = {
    if (at == rows.length) fill()
    at += 1
    rows(at - 1)
  }

  private def fill(): Unit = {
    rows.clear()
    known.foreach(_.clear())
    at = 0
    val waiting = Array.fill(calls.length)(ArrayBuffer.empty[AskedRow])
    def ask(row: AskedRow): Unit = {
      val call = questions.next(row)
      if (call != QuestionRunner.None) waiting(call) += row
    }
    var bytes = 0L
    val mostRows = if (isFirst) AskedRows.FirstRows else Int.MaxValue
    isFirst = false
    while (input.hasNext && rows.length < mostRows && bytes < work.bufferBytes) {
      val own = copied(input.next())
      bytes += own.getSizeInBytes + AskedRows.RowBytes
      rows += new AskedRow(own, calls.length)
      ask(rows.last)
    }
    if (rows.isEmpty) throw new NoSuchElementException("no more rows")
    counts.saved += rows.length.toLong * calls.length
    var call = waiting.indexWhere(_.nonEmpty)
    while (call >= 0) {
      val asked = waiting(call)
      waiting(call) = ArrayBuffer.empty
      make(call, asked, waiting)
      asked.foreach(row => if (!row.isOpen(call)) ask(row))
      call = waiting.indexWhere(_.nonEmpty)
    }
  }

  private def copied(row: InternalRow): UnsafeRow = row match {
    case unsafe: UnsafeRow => unsafe.copy()
    case other => copy(other).copy()
  }

  /**
   * Makes a call for these rows.
   *
   * @param inner per call: gets the rows of which the call needs that one's result first
   */
  private def make(call: Int, asked: ArrayBuffer[AskedRow], inner: Array[ArrayBuffer[AskedRow]]): Unit = {
    val results = known(functionOf(call))
    val wanted = mutable.LinkedHashSet.empty[UnsafeRow]
    val arguments = asked.map { row =>
      try {
        val own = projections(call)(row).copy()
        if (!results.contains(own)) wanted += own
        own
      } catch {
        case open: OpenCall =>
          inner(open.call) += row
          null
        case NonFatal(e) =>
          row.answer(call, new FailedCall(e))
          null
      }
    }
    val granted = work.budget.fold(wanted.size)(_.take(wanted.size))
    val made = wanted.iterator.take(granted).to(ArrayBuffer)
    val start = System.nanoTime
    results ++= made.iterator.zip(callers(functionOf(call)).results(calls(call), made))
    val time = System.nanoTime - start
    counts.made += granted
    counts.saved -= wanted.size
    counts.refused += wanted.size - granted
    counts.nanoseconds += time
    val each = if (granted == 0) 0L else time / granted
    asked.indices.foreach { i =>
      if (arguments(i) != null) {
        asked(i).answer(call, results.getOrElse(arguments(i), refused(call)))
        if (work.needsAll) asked(i).nanoseconds(call) = each
      }
    }
  }

  private def refused(call: Int): FailedCall = new FailedCall(
    new FailedPythonCall(s"${calls(call).text}: not called, because the query has made as many calls as it may"))
}

private object AskedRows {

  // A query that wants a few rows only should not wait for a full buffer.
  private val FirstRows = 8192

  // What a row takes beside its own bytes.
  private val RowBytes = 100
}
