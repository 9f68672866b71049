package sparkrules.conf

/** What a query does with rules that Spark rejects on its input. */
sealed abstract class OnRejectedRule extends Serializable

object OnRejectedRule {
  case object Fail extends OnRejectedRule

  /** The query goes on without the rule. */
  case object LeaveOut extends OnRejectedRule
}
