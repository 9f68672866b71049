package org.apache.spark.sparkrules

import org.apache.spark.SparkRuntimeException

/** An executor could not read a file of the store. It is in Spark's package for the same reason as [[RuleError]]. */
final class UnreadableStore(reason: Throwable)
    extends SparkRuntimeException(
      errorClass = "USER_RAISED_EXCEPTION",
      messageParameters = Map("errorMessage" -> RuleError.message(reason)),
      cause = reason)
