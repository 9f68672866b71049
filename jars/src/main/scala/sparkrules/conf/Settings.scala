package sparkrules.conf

/** The settings of the plugin. The table in docs/sql-reference.md is [[Settings.table]]. */
object Settings {
  val Store = new Setting(
    "spark.sparkrules.store",
    new Text("a local path, or a URI of any Hadoop file system"),
    Home.defaultStore,
    "the directory of published rule sets",
    says = "`$SPARKRULES_STORE`, else `~/.sparkrules/store`")

  val FixedStore = new Setting(
    "spark.sparkrules.fixedStore",
    YesOrNo,
    "false",
    "whether sessions must use the store that the application was started with; cannot be changed in a session: see " +
      "[Operating](operating.md#servers-that-others-send-sql-to)")

  val AllowedRuleSets = new Setting(
    "spark.sparkrules.allowedRulesets",
    RuleSetPatterns,
    "",
    "the rule sets that can be used, and the only ones that the catalog shows; cannot be changed in a session",
    says = "all")

  val Admins = new Setting(
    "spark.sparkrules.admins",
    new Text("users, separated by commas; `*` for everybody"),
    "",
    "who can change rules with `CALL`; cannot be changed in a session: see " +
      "[Operating](operating.md#who-can-change-rules)",
    says = "everybody, except on a Thrift or Connect server: there nobody")

  val ExtraFunctions = new Setting(
    "spark.sparkrules.extraFunctions",
    new Text("names, separated by commas"),
    "",
    "functions that rules of `CALL` may call besides those of the default " +
      "[policy](rule-language.md#limits-and-the-policy), such as your own; cannot be changed in a session",
    says = "none")

  val CallSeconds = new Setting(
    "spark.sparkrules.callSeconds",
    new Positive("seconds"),
    "600",
    "how long a `CALL` that runs Python may take; cannot be changed in a session")

  val RuleSet = new Setting(
    "spark.sparkrules.ruleset",
    new Text("`alerts`, `alerts@12`"),
    "",
    "the rule set of calls that name none; with `@12` always that version",
    says = "none")

  val MissingColumns = new Setting(
    "spark.sparkrules.missingColumns",
    new Choice[OnMissingColumn]("error" -> OnMissingColumn.Reject, "null" -> OnMissingColumn.ReadNull),
    "error",
    "rules that name a column the input lacks: fail the query, or read the column as NULL")

  val InvalidRules = new Setting(
    "spark.sparkrules.invalidRules",
    new Choice[OnRejectedRule]("error" -> OnRejectedRule.Fail, "skip" -> OnRejectedRule.LeaveOut),
    "error",
    "rules that Spark cannot analyse on the input (unknown column, wrong type): fail the query, or leave them out")

  val Strict = new Setting(
    "spark.sparkrules.strict",
    YesOrNo,
    "false",
    "whether a rule that Spark's WHERE would fail on fails the query; otherwise the predicate that cannot be " +
      "computed is unknown for the row, and the other rules go on")

  val PushDown = new Setting(
    "spark.sparkrules.pushDown",
    new Choice[OnPushDown]("auto" -> OnPushDown.Auto, "always" -> OnPushDown.Always, "never" -> OnPushDown.Never),
    "auto",
    "whether queries that want only rows with a match give the source a filter that all rules imply: where it can " +
      "skip enough rows, wherever there is one, or not at all; see [Tuning](tuning.md#read-less)")

  val Steps = new Setting(
    "spark.sparkrules.steps",
    new Positive("steps"),
    "2000000000",
    "how much work one value of a rule may take for one row, in steps of about a nanosecond: a character that a " +
      "regular expression looks at, each time it does, is one; a call of a lambda function is 250. A value that " +
      "takes more fails; see [Limits](limits.md#what-a-rule-may-take)")

  val ValueBytes = new Setting(
    "spark.sparkrules.valueBytes",
    new Positive("bytes"),
    (16L << 20).toString,
    "how large a value may become that a function in a rule makes, and a quarter of what all such values of one " +
      "predicate may take together for one row; a larger one fails; see [Limits](limits.md#what-a-rule-may-take)")

  val BindSeconds = new Setting(
    "spark.sparkrules.bindSeconds",
    new Positive("seconds"),
    "10",
    "how much processor time Spark's parser, analyzer and optimizer may take for one part of a rule; what takes " +
      "longer is rejected")

  val BindTotalSeconds = new Setting(
    "spark.sparkrules.bindTotalSeconds",
    new Positive("seconds"),
    "60",
    "how much processor time they may take for all slow rules together that are compiled at once; what an ordinary " +
      "rule takes, a fiftieth of a second, does not count. When it is used up, further slow rules are rejected")

  val PythonBufferBytes = new Setting(
    "spark.sparkrules.pythonBufferBytes",
    new Positive("bytes"),
    (64L << 20).toString,
    "how many bytes of rows a task collects before it calls the Python functions that rules need for them: more rows " +
      "make larger batches; see [Expensive predicates](expensive-predicates.md#python-functions)")

  val PythonFailures = new Setting(
    "spark.sparkrules.pythonFailures",
    new Positive("calls"),
    "100",
    "how many calls of a function over batches, such as a pandas function, may fail in a task. A call that fails is " +
      "unknown for its row; of these functions it costs a Python worker, and more than so many fail the query")

  val PatternRows = new Setting(
    "spark.sparkrules.patternRows",
    new Positive("rows"),
    "1000000",
    "how many rows of one pattern and key may wait for the watermark of a stream; others are dropped, and counted in " +
      "a row of the kind `overflow`; see [Patterns](patterns.md#bounds)")

  val RuleMetrics = new Setting(
    "spark.sparkrules.ruleMetrics",
    new NotNegative("rules"),
    "20",
    "how many rules each query reports to the metrics of Spark and to the tab *Rules* of its UI: those with the most " +
      "matches, errors and time. 0 counts nothing, unless a call asks for it; see [Metrics](metrics.md)")

  val CacheBytes = new Setting(
    "spark.sparkrules.cacheBytes",
    new Positive("bytes"),
    (Runtime.getRuntime.maxMemory / 4).toString,
    "how many bytes of compiled rules the driver keeps for later queries; it drops the least recently used first; " +
      "see [Tuning](tuning.md#memory)",
    says = "a quarter of the driver's heap")

  val PartRules = new Setting(
    "spark.sparkrules.partRules",
    new Positive("rules"),
    "20000",
    "internal, for tests: how many rules a segment must have to be compiled by itself; smaller ones are compiled " +
      "together")

  /** In the order of the documentation. */
  val All: Seq[Setting[_]] = Seq(
    Store, FixedStore, AllowedRuleSets, Admins, ExtraFunctions, CallSeconds, RuleSet, MissingColumns, InvalidRules,
    Strict, PushDown, Steps, ValueBytes, BindSeconds, BindTotalSeconds, PythonBufferBytes, PythonFailures, PatternRows,
    RuleMetrics, CacheBytes, PartRules)

  /** All settings as a Markdown table. */
  def table: String =
    (Seq("| setting | default | values | meaning |", "|---|---|---|---|") ++ All.map(_.row)).mkString("", "\n", "\n")

  /** Prints the table. */
  def main(arguments: Array[String]): Unit = print(table)
}
