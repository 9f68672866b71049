package sparkrules.text

import scala.annotation.tailrec
import scala.collection.mutable.ArrayBuffer

/**
 * A pattern of LIKE or RLIKE as far as it is understood: enough to know which texts it is found in, or which texts must
 * be there for it to be found.
 */
sealed abstract class TextPattern

/** Exactly these texts. */
final case class OneOf(parts: Seq[Piece]) extends TextPattern

final case class InTurn(patterns: Seq[TextPattern]) extends TextPattern

final case class AnyOf(patterns: Seq[TextPattern]) extends TextPattern

/** The pattern once or more. */
final case class Many(pattern: TextPattern) extends TextPattern

/** Every text, the empty one and those of several lines included. */
case object AnyText extends TextPattern

/** Every text of one character. */
case object AnyCharacter extends TextPattern

/** Something that is not understood: it may be found in any text, in some, or in none. */
case object Something extends TextPattern

object TextPattern {
  val Empty: TextPattern = OneOf(Seq(Piece.Nothing))
  val Start: TextPattern = OneOf(Seq(Piece.Start))
  val End: TextPattern = OneOf(Seq(Piece.End))

  // Bounds of `(a|b|c)(d|e|f)` written out. `$` has seven forms.
  private val MostParts = 512
  private val MostBytes = 1 << 16

  def inTurn(patterns: Seq[TextPattern]): TextPattern = if (patterns.length == 1) patterns.head else InTurn(patterns)

  def anyOf(patterns: Seq[TextPattern]): TextPattern = if (patterns.length == 1) patterns.head else AnyOf(patterns)

  /** A pattern found in the same texts: `.*(a.*|b)` -> `(a|b)`. What may be empty at an edge need not be there. */
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
    case OneOf(parts) :: AnyText :: rest if parts.contains(edge) => trimmed(rest, edge)
    case first :: rest if canBeEmpty(first) => trimmed(rest, edge)
    case first :: rest => trimmed(first, edge) :: rest
    case Nil => List(Empty)
  }

  private def canBeEmpty(pattern: TextPattern): Boolean = pattern match {
    case OneOf(parts) => parts.contains(Piece.Nothing)
    case InTurn(patterns) => patterns.forall(canBeEmpty)
    case AnyOf(patterns) => patterns.exists(canBeEmpty)
    case Many(repeated) => canBeEmpty(repeated)
    case AnyText => true
    case AnyCharacter | Something => false
  }

  /** All texts of the pattern, if they are few. */
  def all(pattern: TextPattern): Option[Seq[Piece]] = pattern match {
    case OneOf(parts) => Some(parts)
    case InTurn(patterns) => patterns.map(all).reduce((one, next) => one.flatMap(a => next.flatMap(joined(a, _))))
    case AnyOf(patterns) => union(patterns.map(all))
    case _ => None
  }

  /** Texts of which one is in every text of the pattern: of those in turn the set whose shortest is longest. */
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
    case _ => None
  }

  /** Whether finding one of these tells anything: an empty text is found everywhere. */
  def areTold(parts: Seq[Piece]): Boolean = parts.nonEmpty && parts.forall(_.text.numBytes > 0)

  /** Less for texts that fewer rows can be expected to have: first by the shortest of them, then by their number. */
  def weakness(parts: Seq[Piece]): (Int, Int) = (-parts.map(_.text.numBytes).min, parts.length)

  private def union(sets: Seq[Option[Seq[Piece]]]): Option[Seq[Piece]] =
    Option.when(sets.forall(_.isDefined))(sets.flatMap(_.get).distinct)

  private def joined(some: Seq[Piece], next: Seq[Piece]): Option[Seq[Piece]] = {
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
