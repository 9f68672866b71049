package sparkrules.label

/**
 * Which rules of a version a call is about. Only these are compiled.
 *
 * @param status the status that they have; any if it is not given
 * @param tags they have at least one of these; any if it is not given
 * @param needed their ids; any if it is not given
 */
final case class Selection(
    status: Option[String] = Some(Selection.Live),
    tags: Option[Set[String]] = None,
    needed: Option[Set[String]] = None) {

  /** Whether it leaves out so much that what is left is compiled together. */
  def isNarrow: Boolean = tags.isDefined || needed.isDefined

  override def toString: String =
    status.filter(_ != Selection.Live).fold("")(", " + _) +
      tags.fold("")(all => s", tagged ${all.toSeq.sorted.mkString(" or ")}")
}

object Selection {
  val Live = "live"
  val Shadow = "shadow"
  val Draft = "draft"
}
