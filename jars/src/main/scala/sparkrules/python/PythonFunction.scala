package sparkrules.python

import scala.collection.mutable.ArrayBuffer

import org.apache.spark.TaskContext
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
  private var failures = 0L

  /** Per row of arguments: the result, or a [[FailedCall]]. */
  def results(arguments: ArrayBuffer[UnsafeRow]): Array[Any] = {
    val results = new Array[Any](arguments.length)
    var (done, size) = (0, arguments.length)
    while (done < arguments.length) {
      val end = math.min(arguments.length, done + size)
      try {
        OwnTaskContext.run {
          val rows = steps.results(TaskContext.getPartitionId(), arguments.iterator.slice(done, end))
          rows.foreach { row =>
            // The row is used again for the next result.
            results(done) = row.copy().get(0, resultType)
            done += 1
          }
        }
        size *= 2
      } catch {
        // Some call of the batch has failed; which one is found in ever smaller batches.
        case Failure(_) if end - done > 1 => size = (end - done) / 2
        case Failure(reason) =>
          results(done) = new FailedCall(failure(reason))
          done += 1
      }
    }
    results
  }

  private object Failure {
    def unapply(e: Throwable): Option[String] =
      Iterator.iterate(e)(_.getCause).takeWhile(_ != null).collectFirst {
        case PythonFailure(reason) => reason
        case argument: FailedArgument => RuleError.message(argument.reason)
      }
  }

  private def failure(reason: String): Throwable = {
    failures += 1
    if (failures > mostFailures) {
      throw new RulesException(
        s"$text has failed more than $mostFailures times in a task, and each time costs a Python worker. The last " +
          s"time: $reason. Catch what it raises and return NULL, or set spark.sparkrules.pythonFailures higher.")
    }
    new FailedPythonCall(s"$text: $reason")
  }
}

/** What a Python function has raised. */
final class FailedPythonCall(message: String) extends RuntimeException(message, null, false, false)
