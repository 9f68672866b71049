package sparkrules.python

import scala.collection.mutable.ArrayBuffer

import org.apache.spark.{SparkException, SparkThrowable, TaskContext}
import org.apache.spark.sparkrules.{OwnTaskContext, PythonFailure, RuleError}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow

import sparkrules.conf.RulesException
import sparkrules.kernel.FailedCall

/**
 * Calls a Python function, within a task.
 *
 * @param guarded the function if it returns what it raises, where that can be had
 * @param mostFailures how many calls may fail in a task that cost a worker each
 */
private final class PythonFunction(steps: PythonSteps, guarded: Option[PythonSteps], mostFailures: Long) {
  private var text = "" // of the call, for messages
  private var (failures, successes) = (0L, 0L)
  private var (hasFailed, isGuarded) = (false, guarded.isDefined)

  /** Per row of arguments of a call: the result, or a [[FailedCall]]. */
  def results(call: PythonCall, arguments: ArrayBuffer[UnsafeRow]): Array[Any] = {
    text = call.text
    val results = new Array[Any](arguments.length)
    if (hasFailed && isGuarded) callGuarded(arguments, 0, arguments.length, results)
    else this.call(arguments, 0, arguments.length, results)
    results
  }

  /**
   * Makes the calls from `start` until `end`. If some call fails, the others are made again: a worker tells only that
   * one of a batch has failed. That ends the worker. If there is no other way to find the one, the batches become small
   * at once, as calls that succeed cost no worker.
   */
  private def call(arguments: ArrayBuffer[UnsafeRow], start: Int, end: Int, results: Array[Any]): Unit = {
    var done = start
    try make(steps, arguments, start, end) { result =>
        results(done) = result
        done += 1
        successes += 1
      }
    catch {
      case Failure(_) if isGuarded =>
        hasFailed = true
        callGuarded(arguments, done, end, results)
      case Failure(reason) if end - done == 1 => results(done) = new FailedCall(failure(reason))
      case Failure(_) =>
        val size = if (end - done <= PythonFunction.Few) 1 else math.sqrt(end - done).toInt
        (done until end by size).foreach(next => call(arguments, next, math.min(next + size, end), results))
    }
  }

  /** The same, where nothing that the function raises ends its worker. */
  private def callGuarded(arguments: ArrayBuffer[UnsafeRow], start: Int, end: Int, results: Array[Any]): Unit = {
    var done = start
    try make(guarded.get, arguments, start, end) { result =>
        val own = result.asInstanceOf[InternalRow]
        results(done) =
          if (own.isNullAt(1)) own.get(0, steps.resultType)
          else new FailedCall(new FailedPythonCall(s"$text: ${own.getUTF8String(1)}"))
        done += 1
      }
    catch {
      // It cannot be loaded, or what it returns cannot be read.
      case Failure(_) =>
        isGuarded = false
        call(arguments, done, end, results)
    }
  }

  private def make(by: PythonSteps, arguments: ArrayBuffer[UnsafeRow], start: Int, end: Int)(
      use: Any => Unit): Unit = OwnTaskContext.run {
    val rows = by.results(TaskContext.getPartitionId(), arguments.iterator.slice(start, end))
    // The row is used again for the next result.
    rows.foreach(row => use(row.copy().get(0, by.resultType)))
  }

  /** What a function raises, or what Spark cannot compute between two functions; no lost worker. */
  private object Failure {
    def unapply(e: Throwable): Option[String] = e match {
      case PythonFailure(reason) => Some(reason)
      case _: SparkException => None
      case computed: SparkThrowable => Some(RuleError.message(computed.asInstanceOf[Throwable]))
      case _ => None
    }
  }

  private def failure(reason: String): Throwable = {
    failures += 1
    if (successes == 0 && failures == PythonFunction.Hopeless) {
      throw new RulesException(s"$text has failed each of the first ${PythonFunction.Hopeless} times: $reason")
    }
    if (failures > mostFailures) {
      throw new RulesException(
        s"$text has failed more than $mostFailures times in a task, and each time costs a Python worker. The last " +
          s"time: $reason. Catch what it raises and return NULL, or set spark.sparkrules.pythonFailures higher.")
    }
    new FailedPythonCall(s"$text: $reason")
  }
}

private object PythonFunction {

  // A function that cannot even be loaded fails for every row.
  private val Hopeless = 5

  // So many calls are made one by one.
  private val Few = 64
}

/** What a Python function has raised. */
final class FailedPythonCall(message: String) extends RuntimeException(message, null, false, false)
