package org.apache.spark.sparkrules

import org.apache.spark.SparkRuntimeException

/**
 * A rule that Spark's WHERE would fail on, where rules may fail the query. It is in Spark's package because only there
 * can it be the kind of exception that PySpark and Connect hand to the user as it is.
 */
final class RuleError(id: String, reason: Throwable)
    extends SparkRuntimeException(
      errorClass = "USER_RAISED_EXCEPTION",
      messageParameters = Map("errorMessage" -> s"[SPARKRULES] rule '$id': ${RuleError.message(reason)}"),
      cause = reason)

object RuleError {

  /** What went wrong, in a line. */
  def message(error: Throwable): String =
    Option(error.getMessage).flatMap(_.linesIterator.map(_.trim).find(_.nonEmpty)).getOrElse(error.toString)
}
