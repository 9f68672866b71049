package sparkrules.guard

/**
 * Why an expression is not accepted.
 *
 * @param missing the columns it names that the input lacks
 * @param isExcessive whether it takes too much: what it is a part of would, too
 */
final case class Rejection(reason: String, missing: Seq[String] = Nil, isExcessive: Boolean = false)
