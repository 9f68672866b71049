package sparkrules.text

import java.util.Random

import org.apache.spark.unsafe.types.UTF8String

import sparkrules.Suite

/** Patterns of LIKE against a matcher that tries everything. */
final class LikeReaderSuite extends Suite {

  private val Symbols = Seq("%", "_", "a", "b", "\u00e4", "\\", "\\%", "\\_", "\\\\", "\ud83d\ude00")

  private def randomPattern(random: Random): String =
    Seq.fill(random.nextInt(7))(Suite.oneOf(random)(Symbols: _*)).mkString

  /** Per symbol of a pattern: itself, or that it is a wildcard. None if it is not a pattern. */
  private def symbols(pattern: List[Int], escape: Int): Option[List[Either[Char, Int]]] = pattern match {
    case Nil => Some(Nil)
    case `escape` :: next :: rest =>
      Option.when(next == '%' || next == '_' || next == escape)(rest).flatMap(symbols(_, escape)).map(Right(next) :: _)
    case `escape` :: Nil => None
    case '%' :: rest => symbols(rest, escape).map(Left('%') :: _)
    case '_' :: rest => symbols(rest, escape).map(Left('_') :: _)
    case c :: rest => symbols(rest, escape).map(Right(c) :: _)
  }

  private def matches(symbols: List[Either[Char, Int]], text: List[Int]): Boolean = (symbols, text) match {
    case (Nil, _) => text.isEmpty
    case (Left('%') :: rest, _) => matches(rest, text) || text.nonEmpty && matches(symbols, text.tail)
    case (Left(_) :: rest, _ :: others) => matches(rest, others)
    case (Right(c) :: rest, d :: others) => c == d && matches(rest, others)
    case _ => false
  }

  private def codePoints(text: String): List[Int] = text.codePoints().toArray.toList

  /** Whether a text has a pattern as it was read: the same, on what the reader has made of it. */
  private def has(pattern: Seq[TextPattern], text: List[Int]): Boolean = pattern match {
    case Nil => text.isEmpty
    case OneOf(Seq(piece)) +: rest =>
      val own = codePoints(piece.text.toString)
      text.startsWith(own) && has(rest, text.drop(own.length))
    case AnyText +: rest => has(rest, text) || text.nonEmpty && has(pattern, text.tail)
    case AnyCharacter +: rest => text.nonEmpty && has(rest, text.tail)
    case other => throw new AssertionError(s"a pattern of LIKE is not $other")
  }

  test("a pattern is found in the texts that it describes") {
    cases(4000) { random =>
      val pattern = randomPattern(random)
      val escape = if (random.nextInt(4) == 0) 'a' else '\\'
      val (read, expected) = (LikeReader(pattern, escape), symbols(codePoints(pattern), escape.toInt))
      checkEqual(read.isDefined, expected.isDefined, s"whether '$pattern' is a pattern with '$escape'")
      for (InTurn(parts) <- read; symbols <- expected; _ <- 0 until 10) {
        val text = codePoints(RandomTexts.string(random, 6))
        checkEqual(has(parts, text), matches(symbols, text), s"$text like '$pattern' escape '$escape'")
      }
    }
  }

  test("what a pattern needs is in every text that it describes; all of it decides alone") {
    cases(4000) { random =>
      val pattern = randomPattern(random)
      for (read <- LikeReader(pattern, '\\'); symbols <- symbols(codePoints(pattern), '\\')) {
        val trimmed = TextPattern.trimmed(read)
        (0 until 10).foreach { _ =>
          val text = RandomTexts.string(random, 6)
          val isMatch = matches(symbols, codePoints(text))
          TextPattern.all(trimmed).filter(TextPattern.areTold).foreach { all =>
            checkEqual(all.exists(isIn(_, text)), isMatch, s"'$text' like '$pattern' by $all")
          }
          if (isMatch) TextPattern.required(trimmed).foreach { required =>
            check(required.exists(isIn(_, text)), s"'$text' like '$pattern' without any of $required")
          }
        }
      }
    }
  }

  private def isIn(piece: Piece, text: String): Boolean = {
    val whole = UTF8String.fromString(text)
    (piece.atStart, piece.atEnd) match {
      case (true, true) => whole == piece.text
      case (true, false) => whole.startsWith(piece.text)
      case (false, true) => whole.endsWith(piece.text)
      case (false, false) => whole.contains(piece.text)
    }
  }
}
