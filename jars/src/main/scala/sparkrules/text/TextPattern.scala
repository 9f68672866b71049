package sparkrules.text

import scala.annotation.tailrec
import scala.collection.mutable.ArrayBuffer

/**
 * A pattern of LIKE or RLIKE as far as it is understood: enough to know which strings it matches, or which strings
 * every match contains.
 */
sealed abstract class TextPattern

/** One of these strings. */
final case class OneOf(parts: Seq[Piece]) extends TextPattern

final case class InTurn(patterns: Seq[TextPattern]) extends TextPattern

final case class AnyOf(patterns: Seq[TextPattern]) extends TextPattern

/** The pattern once or more. */
final case class Many(pattern: TextPattern) extends TextPattern

/**
 * Characters of a set.
 *
 * @param most -1 if there is no bound
 * @param one one of them, as far as that is understood
 */
final case class Run(set: CharacterSet, least: Int, most: Int, one: TextPattern) extends TextPattern

/** Any string, also the empty one, and those of several lines. */
case object AnyText extends TextPattern

/** Any character. */
case object AnyCharacter extends TextPattern

/** A part that is not understood: it can match any string, some, or none. */
case object Something extends TextPattern

object TextPattern {
  val Empty: TextPattern = OneOf(Seq(Piece.Nothing))
  val Start: TextPattern = OneOf(Seq(Piece.Start))
  val End: TextPattern = OneOf(Seq(Piece.End))

  // Bounds of `(a|b|c)(d|e|f)` written out.
  private val MostParts = 512
  private val MostBytes = 1 << 16

  def inTurn(patterns: Seq[TextPattern]): TextPattern = if (patterns.length == 1) patterns.head else InTurn(patterns)

  def anyOf(patterns: Seq[TextPattern]): TextPattern = if (patterns.length == 1) patterns.head else AnyOf(patterns)

  /** A pattern that is found in the same strings: `.*(a.*|b)` -> `(a|b)`. Drops what can be empty at an edge. */
  def trimmed(pattern: TextPattern): TextPattern = trimmed(trimmed(pattern, Piece.Start), Piece.End)

  private def trimmed(pattern: TextPattern, edge: Piece): TextPattern = pattern match {
    case InTurn(patterns) =>
      if (edge == Piece.Start) inTurn(trimmed(patterns.toList, edge))
      else inTurn(trimmed(patterns.reverse.toList, edge).reverse)
    case AnyOf(patterns) => AnyOf(patterns.map(trimmed(_, edge)))
    case other => if (canBeEmpty(other)) Empty else other
  }

  @tailrec
  private def trimmed(patterns: List[TextPattern], edge: Piece): List[TextPattern] = patterns match {
    case OneOf(parts) :: AnyText :: rest if parts.exists(isAt(edge, _)) => trimmed(rest, edge)
    case first :: rest if canBeEmpty(first) => trimmed(rest, edge)
    case first :: rest => trimmed(first, edge) :: rest
    case Nil => List(Empty)
  }

  private def isAt(edge: Piece, part: Piece): Boolean =
    part == edge || edge == Piece.End && part == Piece.LastLineEnd

  private def canBeEmpty(pattern: TextPattern): Boolean = pattern match {
    case OneOf(parts) => parts.contains(Piece.Nothing)
    case InTurn(patterns) => patterns.forall(canBeEmpty)
    case AnyOf(patterns) => patterns.exists(canBeEmpty)
    case Many(repeated) => canBeEmpty(repeated)
    case Run(_, least, _, _) => least == 0
    case AnyText => true
    case AnyCharacter | Something => false
  }

  /** All strings of the pattern, if they are few. */
  def all(pattern: TextPattern): Option[Seq[Piece]] = pattern match {
    case OneOf(parts) => Some(parts)
    case InTurn(patterns) => patterns.map(all).reduce((one, next) => one.flatMap(a => next.flatMap(joined(a, _))))
    case AnyOf(patterns) => union(patterns.map(all))
    case _ => None
  }

  /** Strings of which every match contains one. Of several such sets, the one whose shortest string is longest. */
  def required(pattern: TextPattern): Option[Seq[Piece]] = pattern match {
    case OneOf(parts) => Some(parts).filter(areTold)
    case InTurn(patterns) =>
      val candidates = ArrayBuffer.empty[Seq[Piece]]
      var run = Seq(Piece.Nothing)
      patterns.foreach { next =>
        val texts = all(next)
        texts.flatMap(joined(run, _)) match {
          case Some(longer) => run = longer
          case None =>
            candidates += run
            candidates ++= required(next)
            run = texts.getOrElse(Seq(Piece.Nothing))
        }
      }
      candidates += run
      candidates.filter(areTold).minByOption(weakness)
    case AnyOf(patterns) => union(patterns.map(required))
    case Many(repeated) => required(repeated)
    case Run(_, least, _, one) if least > 0 => required(one)
    case _ => None
  }

  /** Whether finding one of these says anything: an empty string is found everywhere. */
  def areTold(parts: Seq[Piece]): Boolean = parts.nonEmpty && parts.forall(_.text.numBytes > 0)

  /** Lower for strings that fewer rows have: compares the length of the shortest, then their number. */
  def weakness(parts: Seq[Piece]): (Int, Int) = (-parts.map(_.text.numBytes).min, parts.length)

  private def union(sets: Seq[Option[Seq[Piece]]]): Option[Seq[Piece]] =
    Option.when(sets.forall(_.isDefined))(sets.flatMap(_.get).distinct)

  /** All strings of one set, each followed by each of another, if they are few. */
  def joined(some: Seq[Piece], next: Seq[Piece]): Option[Seq[Piece]] = {
    val (bytes, nextBytes) = (bytesOf(some), bytesOf(next))
    val isFew = some.length == 1 || next.length == 1 || some.length * next.length <= MostParts
    val isShort = bytes == 0 || nextBytes == 0 || next.length * bytes + some.length * nextBytes <= MostBytes
    if (!isFew || !isShort) None
    else {
      val pairs = for (one <- some; other <- next) yield one.followedBy(other)
      Option.when(pairs.forall(_.isDefined))(pairs.flatten.distinct)
    }
  }

  private def bytesOf(parts: Seq[Piece]): Long = parts.iterator.map(_.text.numBytes.toLong).sum
}
