package sparkrules.conf

/** What a query does with rules that name a column which its input lacks. */
sealed abstract class OnMissingColumn extends Serializable

object OnMissingColumn {

  /** Such a rule is rejected. */
  case object Reject extends OnMissingColumn

  /** The column is NULL. */
  case object ReadNull extends OnMissingColumn
}
