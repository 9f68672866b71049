package sparkrules.python

import scala.collection.mutable.ArrayBuffer

import org.apache.spark.{SparkException, SparkThrowable, TaskContext}
import org.apache.spark.sparkrules.{OwnTaskContext, PythonFailure, RuleError}
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.types.DataType

import sparkrules.conf.RulesException
import sparkrules.kernel.FailedCall

/**
 * Calls a Python function, within a task.
 *
 * @param text the call, for messages
 * @param mostFailures how many calls may fail in a task. Each costs a worker.
 */
private final class PythonFunction(text: String, steps: PythonSteps, resultType: DataType, mostFailures: Long) {
  private var (failures, successes) = (0L, 0L)

  /** Per row of arguments: the result, or a [[FailedCall]]. */
  def results(arguments: ArrayBuffer[UnsafeRow]): Array[Any] = {
    val results = new Array[Any](arguments.length)
    call(arguments, 0, arguments.length, results)
    results
  }

  /**
   * Makes the calls from `start` until `end`. If some call fails, the others are made again: a worker tells only that
   * one of a batch has failed. That ends the worker, and a call that succeeds does not, so the batches become small at
   * once.
   */
  private def call(arguments: ArrayBuffer[UnsafeRow], start: Int, end: Int, results: Array[Any]): Unit = {
    var done = start
    try OwnTaskContext.run {
      val rows = steps.results(TaskContext.getPartitionId(), arguments.iterator.slice(start, end))
      rows.foreach { row =>
        // The row is used again for the next result.
        results(done) = row.copy().get(0, resultType)
        done += 1
        successes += 1
      }
    } catch {
      case Failure(reason) if end - done == 1 => results(done) = new FailedCall(failure(reason))
      case Failure(_) =>
        val size = if (end - done <= PythonFunction.Few) 1 else math.sqrt(end - done).toInt
        (done until end by size).foreach(next => call(arguments, next, math.min(next + size, end), results))
    }
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
  private val Hopeless = 10

  // So many calls are made one by one.
  private val Few = 64
}

/** What a Python function has raised. */
final class FailedPythonCall(message: String) extends RuntimeException(message, null, false, false)
