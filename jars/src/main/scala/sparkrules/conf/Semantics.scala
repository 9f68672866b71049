package sparkrules.conf

import org.apache.spark.sql.internal.SQLConf

/**
 * The session settings that decide what a rule means. They are those of the place of the call: in a view, the view's.
 *
 * @param others the other settings of the session that Spark would keep with a view
 */
final case class Semantics(ansi: Boolean, timeZone: String, caseSensitive: Boolean, others: Map[String, String]) {

  /** With the settings of the optimizer, which a view does not keep: it can change the meaning of a comparison. */
  def optimizedBy(conf: SQLConf): Semantics =
    copy(others = others ++ conf.getAllConfs.filter { case (key, _) => key.startsWith(Semantics.Optimizer) })

  /** A copy of `conf` with these settings, for the analysis of the rules. */
  def over(conf: SQLConf): SQLConf = {
    val copy = conf.clone()
    Semantics.decisive(conf).keys.filterNot(others.contains).foreach(key => copy.unsetConf(key))
    others.foreach { case (key, value) => copy.setConfString(key, value) }
    copy.setConfString(SQLConf.ANSI_ENABLED.key, ansi.toString)
    copy.setConfString(SQLConf.SESSION_LOCAL_TIMEZONE.key, timeZone)
    copy.setConfString(SQLConf.CASE_SENSITIVE.key, caseSensitive.toString)
    // Otherwise '${env:HOME}' in a rule would read the driver's environment.
    copy.setConfString(SQLConf.VARIABLE_SUBSTITUTE_ENABLED.key, "false")
    // Otherwise a rule could refer to the expression of another rule that is analysed with it.
    copy.setConfString(SQLConf.LATERAL_COLUMN_ALIAS_IMPLICIT_ENABLED.key, "false")
    copy
  }
}

object Semantics {
  private val Optimizer = "spark.sql.optimizer."
  // How a query runs, not what it means. Spark's views leave these out too (`ViewHelper`), except the last two.
  private val HowItRuns =
    Seq("codegen", "execution", "shuffle", "adaptive", "hive", "streaming", "sources").map(name => s"spark.sql.$name.")

  def of(conf: SQLConf): Semantics =
    Semantics(conf.ansiEnabled, conf.sessionLocalTimeZone, conf.caseSensitiveAnalysis, decisive(conf))

  private def decisive(conf: SQLConf): Map[String, String] = conf.getAllConfs.filter { case (key, _) =>
    key.startsWith("spark.sql.") && conf.isModifiable(key) && !(Optimizer +: HowItRuns).exists(key.startsWith)
  }
}
