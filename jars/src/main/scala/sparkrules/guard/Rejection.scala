package sparkrules.guard

/**
 * Why an expression is rejected.
 *
 * @param missing the columns it names that the input lacks
 * @param isExcessive whether it takes too much time or memory, so that every rule with it would
 */
final case class Rejection(reason: String, missing: Seq[String] = Nil, isExcessive: Boolean = false)
