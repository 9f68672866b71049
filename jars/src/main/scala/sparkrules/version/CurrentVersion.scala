package sparkrules.version

import org.apache.spark.sql.classic.SparkSession

import sparkrules.conf.{RulesException, Settings}
import sparkrules.store.{Store, Version}

/** The version that a call means now. */
object CurrentVersion {

  /**
   * @param named the rule set that the call names; without it, the session's rule set is meant
   * @param example a call that names a rule set, for the error message
   */
  def of(session: SparkSession, store: Store, named: Option[String], example: String): Version = {
    val name = named.getOrElse(Settings.RuleSet.get(session.sessionState.conf))
    if (name.isEmpty) {
      throw new RulesException(
        s"No rule set: name one in the call, $example, or set ${Settings.RuleSet.key} in the session.")
    }
    store.resolve(name)
  }
}
