package sparkrules.call

import org.apache.hadoop.security.UserGroupInformation

import org.apache.spark.sql.catalyst.CurrentUserContext
import org.apache.spark.sql.classic.SparkSession

import sparkrules.conf.{RulesException, Settings}

/**
 * Who sends a CALL, and whether they may change rules.
 *
 * @param onServer whether a server runs the statement for one of its users; otherwise it is the application's own
 */
final case class Caller(user: String, onServer: Boolean) {

  /** The setting decides, if there is one. Without it, an application may change rules, and users of a server not. */
  def mayChangeRules(session: SparkSession): Boolean =
    Settings.Admins.only(session).split(",").map(_.trim).filter(_.nonEmpty) match {
      case Array() => !onServer
      case admins => admins.contains("*") || user.nonEmpty && admins.contains(user)
    }

  def check(session: SparkSession, procedure: String): Unit =
    if (!mayChangeRules(session)) {
      throw new RulesException(
        s"CALL $procedure: user '$user' may not change rules here. Those who may are named when the application " +
          s"starts: --conf ${Settings.Admins.key}=${if (user.isEmpty) "alice" else user}, or * for everybody. The " +
          "owner of a rule can unsubscribe and renew it with its ticket.")
    }
}

object Caller {
  // The tag of a statement of Spark Connect: the user, the session and the operation, which have no fixed length.
  private val Tag = "SparkConnect_OperationTag_User_(.*)_Session_.*_Operation_.*".r
  private val ConnectPlugin = "org.apache.spark.sql.connect.SparkConnectPlugin"

  def of(session: SparkSession): Caller = {
    val context = session.sparkContext
    val connected = context.getJobTags().collectFirst { case Tag(user) => user }
    // The Thrift server sets it for each statement, and nothing else does.
    val thrift = Option(CurrentUserContext.CURRENT_USER.get)
    // An application that has opened a Connect server itself, as PySpark does for a local one, is not a server.
    val isOwn = context.getConf.get("spark.plugins", "").split(",").map(_.trim).contains(ConnectPlugin)
    thrift.map(Caller(_, onServer = true))
      .orElse(connected.map(Caller(_, onServer = !isOwn)))
      .getOrElse(Caller(UserGroupInformation.getCurrentUser.getShortUserName, onServer = false))
  }
}
