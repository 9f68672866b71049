package sparkrules.conf

import org.apache.spark.sql.AnalysisException

/**
 * An error of the user's making, reported as Spark reports its own: PySpark, Connect and Thrift show the message. The
 * condition is one that Spark knows, since clients look it up there.
 */
class RulesException(text: String, reason: Throwable = null)
    extends AnalysisException(
      message = s"[SPARKRULES] $text",
      cause = Option(reason),
      errorClass = Some("USER_RAISED_EXCEPTION"),
      messageParameters = Map("errorMessage" -> s"[SPARKRULES] $text"))
