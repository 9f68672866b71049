package sparkrules.version

import sparkrules.guard.Rejection

/**
 * A rule that Spark does not accept on the columns of a call.
 *
 * @param row its place among the rules of a part's segments
 * @param validFrom the first microsecond at which it is valid, and `validUntil` the first at which it no longer is
 */
final case class RejectedRule(row: Int, id: String, rejection: Rejection, validFrom: Long, validUntil: Long) {
  def isValid(instant: Long): Boolean = validFrom <= instant && instant < validUntil
}
