package sparkrules.conf

import java.nio.file.Paths

import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.internal.SQLConf

/** A configuration entry of the plugin: its key, what it is for, and the values it takes. */
final case class Setting(key: String, default: String, values: Set[String], doc: String) {

  def get(conf: SQLConf): String = checked(conf.getConfString(key, default))

  /** What the application was started with: spark-submit, spark-defaults.conf or the builder of its first session. */
  def started(session: SparkSession): String = checked(session.sparkContext.getConf.get(key, default))

  /** What the application was started with, in a session that does not pretend otherwise. */
  def only(session: SparkSession): String = {
    val value = started(session)
    if (get(session.sessionState.conf) != value) throw new RulesException(isFixed)
    value
  }

  /** What to say to who has changed it. */
  def isFixed: String = s"$key cannot be changed in a session: it is what the server was started with. RESET $key"

  private def checked(value: String): String = {
    if (values.nonEmpty && !values(value)) {
      throw new RulesException(s"$key is '$value'; it takes ${values.toSeq.sorted.mkString(" or ")}.")
    }
    value
  }

  /** A setting that is a positive number. */
  def number(conf: SQLConf): Long = {
    val value = get(conf)
    value.toLongOption.filter(_ > 0)
      .getOrElse(throw new RulesException(s"$key is '$value'; it takes a positive number."))
  }
}

object Settings {

  /**
   * The user's home directory as Python finds it, so that both have the same default store: the environment comes
   * first. (`user.home` is what the system's list of users says.)
   */
  private[sparkrules] def home: String = homeOf(sys.env, java.io.File.separatorChar == '\\', sys.props("user.home"))

  def homeOf(environment: collection.Map[String, String], isWindows: Boolean, listed: String): String =
    if (isWindows) {
      environment.get("USERPROFILE")
        .orElse(environment.get("HOMEPATH").map(environment.getOrElse("HOMEDRIVE", "") + _)).getOrElse(listed)
    } else environment.get("HOME").map(home => if (home.isEmpty) "/" else home).getOrElse(listed)

  /** A store as it is meant, as in Python: `~` is the home directory, and no text the default. */
  def storePath(store: String): String =
    if (store.isEmpty) storePath(Store.default)
    else if (store == "~" || store.startsWith("~/") || store.startsWith(s"~${java.io.File.separator}")) {
      home + store.drop(1)
    } else store

  val Store = Setting(
    "spark.sparkrules.store",
    sys.env.get("SPARKRULES_STORE").filter(_.nonEmpty).getOrElse(Paths.get(home, ".sparkrules", "store").toString),
    Set.empty,
    "Directory of published rule sets: a local path or a URI of any Hadoop file system.")

  val FixedStore = Setting(
    "spark.sparkrules.fixedStore",
    "false",
    Set("true", "false"),
    "Whether sessions must use the store that the application was started with. Cannot be changed in a session.")

  val AllowedRuleSets = Setting(
    "spark.sparkrules.allowedRulesets",
    "",
    Set.empty,
    "The rule sets that can be used, separated by commas; '*' stands for anything, as in 'alerts,fraud*'. Others are " +
      "not shown either. By default all. Cannot be changed in a session.")

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
    "How many seconds of a processor Spark's parser, analyzer and optimizer may take for one part of a rule. What " +
      "takes longer is rejected.")

  val CacheBytes = Setting(
    "spark.sparkrules.cacheBytes",
    (Runtime.getRuntime.maxMemory / 4).toString,
    Set.empty,
    "How many bytes of compiled rules the driver keeps for queries to come, by default a quarter of its heap. Those " +
      "that have not been used for the longest time are dropped first, and compiled again when they are asked for.")

  val PartRules = Setting(
    "spark.sparkrules.partRules",
    "20000",
    Set.empty,
    "Internal. How many rules a segment must have to be compiled by itself; the smaller ones are compiled together, " +
      "and so is everything if there are fewer than two and a half times as many.")

  val InvalidRules = Setting(
    "spark.sparkrules.invalidRules",
    "error",
    Set("error", "skip"),
    "What to do with rules Spark cannot analyse on the input (unknown column, wrong type): fail the query, or leave " +
      "them out of it.")
}
