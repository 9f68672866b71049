package sparkrules.text

/** What lies between two strings that are found one after the other. */
sealed abstract class Gap {

  /** This, and then something else. */
  def andThen(next: Gap): Gap = (this, next) match {
    case (Gap.Nothing, other) => other
    case (own, Gap.Nothing) => own
    case (Gap.Anything, Gap.Anything) => Gap.Anything
    case _ => Gap.Unknown
  }
}

object Gap {
  case object Nothing extends Gap
  case object Anything extends Gap
  case object Unknown extends Gap

  /**
   * Characters of a set.
   *
   * @param low which of the first 64 characters of ASCII are in it: a bit for each
   * @param high which of the others
   * @param most -1 if there is no bound
   */
  final case class Characters(low: Long, high: Long, least: Int, most: Int) extends Gap

  def of(run: Run): Gap = {
    def bits(from: Int): Long = (0 until 64).filter(i => run.set.contains((from + i).toChar)).map(1L << _).sum
    Characters(bits(0), bits(64), run.least, run.most)
  }
}

/**
 * Strings that are found one after the other in every match of a pattern.
 *
 * @param gaps what lies between two of them: one less than there are strings
 * @param isAll whether there is nothing else to the pattern
 */
final case class Turn(pieces: Seq[Piece], gaps: Seq[Gap], isAll: Boolean) {

  /** The string that is worth looking for: of the longest, the first. */
  lazy val rarest: Int = pieces.indices.minBy(i => -pieces(i).text.numBytes)
}
