package sparkrules.version

import sparkrules.conf.Settings

/** Lists rejected rules by reason, the most frequent reasons first. There is at least one rule. */
final class RejectionMessage(key: ProgramKey, rejected: Seq[RejectedRule]) {
  import RejectionMessage._
  import key.question

  /** For a query that fails because of them. */
  def error: String = {
    val remedies = Seq(
      if (key.columns.isEmpty) Some(s"give columns to the call, ${question.function}('alerts', *)") else None,
      if (rejected.forall(_.rejection.missing.isEmpty)) None
      else Some(s"set ${Settings.MissingColumns.key}=null to read missing columns as NULL"),
      Some(s"set ${Settings.InvalidRules.key}=skip to skip such ${question.plural}")).flatten
    s"$list\n${remedies.mkString(", ").capitalize}, or change the ${question.plural}."
  }

  /** For a query that skips them. */
  def warning: String = {
    val all = if (key.forRegions) ""
    else s" SELECT inline(subscriptions_left_out('${key.version}', *)) FROM the table LIMIT 1 lists all of them."
    s"$list\nThe query skips them: ${Settings.InvalidRules.key}=skip.$all"
  }

  private def list: String = {
    val byReason = rejected.groupMap(_.rejection)(_.id).toSeq.sortBy(-_._2.length)
    val lines = byReason.take(MostReasons).map { case (rejection, ids) =>
      val more = if (ids.length > MostIds) s" and ${ids.length - MostIds} more" else ""
      s"\n  ${ids.take(MostIds).map(shown).mkString(", ")}$more: ${rejection.reason}"
    }
    val rest = if (byReason.length > MostReasons) s"\n  ... and ${byReason.length - MostReasons} other reasons" else ""
    val are = if (rejected.length == 1) "is" else "are"
    val columns = key.columns.map(_.names.last).mkString(", ")
    val count = question.counted(rejected.length)
    s"$count of ${key.version} $are rejected on the input ($columns):${lines.mkString}$rest"
  }
}

object RejectionMessage {
  private val MostReasons = 10
  private val MostIds = 5

  /** A condition that a pattern has of its own is known by the pattern. */
  private def shown(id: String): String = id match {
    case s"$pattern\u0000$number" => s"condition $number of pattern '$pattern'"
    case _ => s"'$id'"
  }
}
