package sparkrules

import java.nio.file.Paths

import org.apache.spark.sql.internal.SQLConf

/** A configuration entry of the plugin: its key, what it is for, and the values it takes. */
final case class Setting(key: String, default: String, values: Set[String], doc: String) {

  def get(conf: SQLConf): String = {
    val value = conf.getConfString(key, default)
    if (values.nonEmpty && !values(value)) {
      throw new RulesException(s"$key is '$value'; it takes ${values.toSeq.sorted.mkString(" or ")}.")
    }
    value
  }

  /** A setting that is a positive number. */
  def number(conf: SQLConf): Long = {
    val value = get(conf)
    value.toLongOption.filter(_ > 0).getOrElse(throw new RulesException(s"$key is '$value'; it takes a positive number."))
  }
}

object Settings {

  val Store = Setting(
    "spark.sparkrules.store",
    sys.env.getOrElse("SPARKRULES_STORE", Paths.get(sys.props("user.home"), ".sparkrules", "store").toString),
    Set.empty,
    "Directory of published rule sets: a local path or a URI of any Hadoop file system.")

  val RuleSet = Setting(
    "spark.sparkrules.ruleset",
    "",
    Set.empty,
    "The rule set of calls that name none; 'alerts' is its newest version, 'alerts@12' always version 12.")

  val MissingColumns = Setting(
    "spark.sparkrules.missingColumns",
    "error",
    Set("error", "null"),
    "What to do with rules that name a column the input lacks: fail the query, or read the column as NULL.")

  val Strict = Setting(
    "spark.sparkrules.strict",
    "false",
    Set("true", "false"),
    "Whether a rule that Spark's WHERE would fail on fails the query. Otherwise the test that cannot be computed is " +
      "unknown for the row, and the other rules go on.")

  val Steps = Setting(
    "spark.sparkrules.steps",
    "2000000000",
    Set.empty,
    "How much work one value of a rule may be for one row. A step is about a nanosecond: a character that a regular " +
      "expression looks at, the same ones repeatedly included; a call of a lambda function is 250. A value that " +
      "takes more fails, as one that cannot be computed does.")

  val ValueBytes = Setting(
    "spark.sparkrules.valueBytes",
    (16L << 20).toString,
    Set.empty,
    "How large a value may become that a function in a rule makes, and a quarter of what all such values may take " +
      "together for one row and one part of a rule. A value that is larger fails, as one that cannot be computed does.")

  val BindSeconds = Setting(
    "spark.sparkrules.bindSeconds",
    "10",
    Set.empty,
    "How many seconds of a processor Spark's parser, analyzer and optimizer may take for one part of a rule. What takes " +
      "longer is rejected.")

  val CacheBytes = Setting(
    "spark.sparkrules.cacheBytes",
    (Runtime.getRuntime.maxMemory / 4).toString,
    Set.empty,
    "How many bytes of compiled rules the driver keeps for queries to come, by default a quarter of its heap. Those that " +
      "have not been used for the longest time are dropped first, and compiled again when they are asked for.")

  val PartRules = Setting(
    "spark.sparkrules.partRules",
    "20000",
    Set.empty,
    "Internal. How many rules a segment must have to be compiled by itself; the smaller ones are compiled together, and " +
      "so is everything if there are fewer than two and a half times as many.")

  val InvalidRules = Setting(
    "spark.sparkrules.invalidRules",
    "error",
    Set("error", "skip"),
    "What to do with rules Spark cannot analyse on the input (unknown column, wrong type): fail the query, or leave " +
      "them out of it.")
}

/** The session settings that decide what a rule means, taken where the call stands (in a view: the view's own). */
final case class Semantics(ansi: Boolean, timeZone: String, caseSensitive: Boolean) {

  /** A copy of `conf` with these settings, for the analysis of the rules. */
  def over(conf: SQLConf): SQLConf = {
    val copy = conf.clone()
    copy.setConfString(SQLConf.ANSI_ENABLED.key, ansi.toString)
    copy.setConfString(SQLConf.SESSION_LOCAL_TIMEZONE.key, timeZone)
    copy.setConfString(SQLConf.CASE_SENSITIVE.key, caseSensitive.toString)
    // Else '${env:HOME}' in a rule would be the driver's environment.
    copy.setConfString(SQLConf.VARIABLE_SUBSTITUTE_ENABLED.key, "false")
    // Else a rule could name the expression of another one, next to which it is analysed.
    copy.setConfString(SQLConf.LATERAL_COLUMN_ALIAS_IMPLICIT_ENABLED.key, "false")
    copy
  }
}

object Semantics {
  def of(conf: SQLConf): Semantics =
    Semantics(conf.ansiEnabled, conf.sessionLocalTimeZone, conf.caseSensitiveAnalysis)
}
