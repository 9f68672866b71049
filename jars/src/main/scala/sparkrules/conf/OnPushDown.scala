package sparkrules.conf

/** When a query gives the source of its rows a filter that all rules imply. */
sealed abstract class OnPushDown extends Serializable

object OnPushDown {

  /** Where there is a source, and the filter lets it skip enough. */
  case object Auto extends OnPushDown

  /** Wherever there is such a filter. */
  case object Always extends OnPushDown

  case object Never extends OnPushDown
}
