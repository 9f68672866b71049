package sparkrules.conf

import org.apache.spark.sql.AnalysisException

/**
 * An error that the user can mend. Spark reports it as one of its own, so PySpark, Connect and Thrift show the message.
 * The error class is one that Spark knows, because clients look it up there.
 */
class RulesException(text: String, reason: Throwable = null)
    extends AnalysisException(
      message = s"[SPARKRULES] $text",
      cause = Option(reason),
      errorClass = Some("USER_RAISED_EXCEPTION"),
      messageParameters = Map("errorMessage" -> s"[SPARKRULES] $text"))
