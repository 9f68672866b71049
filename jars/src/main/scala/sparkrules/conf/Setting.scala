package sparkrules.conf

import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.internal.SQLConf

/**
 * A configuration entry of the plugin: everything about it, in one place.
 *
 * @param default the default value, as a user would write it
 * @param doc what it means: a Markdown phrase for the table of docs/sql-reference.md
 * @param says how the documentation describes the default, if that depends on the machine
 */
final class Setting[T](
    val key: String,
    val kind: SettingType[T],
    val default: String,
    val doc: String,
    says: String = "") {

  def get(conf: SQLConf): T = read(conf.getConfString(key, default))

  /** What the application was started with: spark-submit, spark-defaults.conf or the builder of its first session. */
  def started(session: SparkSession): T = read(startedText(session))

  /** What the application was started with. An error if the session says otherwise. */
  def only(session: SparkSession): T = {
    if (session.sessionState.conf.getConfString(key, default) != startedText(session)) throw new RulesException(isFixed)
    started(session)
  }

  /** The error message for a session that has changed it. */
  def isFixed: String = s"$key cannot be changed in a session: it is what the server was started with. RESET $key"

  /** A row of the documentation's table. */
  def row: String = {
    val shown = if (says.nonEmpty) says else s"`$default`"
    s"| `$key` | $shown | ${kind.values} | $doc |"
  }

  private def startedText(session: SparkSession): String = session.sparkContext.getConf.get(key, default)

  private def read(text: String): T =
    kind.read(text).getOrElse(throw new RulesException(s"$key is '$text'; it takes ${kind.takes}."))
}
