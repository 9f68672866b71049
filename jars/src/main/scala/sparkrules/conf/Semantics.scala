package sparkrules.conf

import org.apache.spark.sql.internal.SQLConf

/**
 * The session settings that decide what a rule means, taken where the call stands (in a view: the view's own).
 *
 * @param others those that the session has set, of all that Spark would keep with a view
 */
final case class Semantics(ansi: Boolean, timeZone: String, caseSensitive: Boolean, others: Map[String, String]) {

  /** With the settings of the optimizer, which are never a view's own: it may change what a comparison says. */
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
    // Else '${env:HOME}' in a rule would be the driver's environment.
    copy.setConfString(SQLConf.VARIABLE_SUBSTITUTE_ENABLED.key, "false")
    // Else a rule could name the expression of another one, next to which it is analysed.
    copy.setConfString(SQLConf.LATERAL_COLUMN_ALIAS_IMPLICIT_ENABLED.key, "false")
    copy
  }
}

object Semantics {
  private val Optimizer = "spark.sql.optimizer."
  // Spark's views leave these out as well (`ViewHelper`), the last two excepted: how a query runs, not what it says.
  private val HowItRuns =
    Seq("codegen", "execution", "shuffle", "adaptive", "hive", "streaming", "sources").map(name => s"spark.sql.$name.")

  def of(conf: SQLConf): Semantics =
    Semantics(conf.ansiEnabled, conf.sessionLocalTimeZone, conf.caseSensitiveAnalysis, decisive(conf))

  private def decisive(conf: SQLConf): Map[String, String] = conf.getAllConfs.filter { case (key, _) =>
    key.startsWith("spark.sql.") && conf.isModifiable(key) && !(Optimizer +: HowItRuns).exists(key.startsWith)
  }
}
