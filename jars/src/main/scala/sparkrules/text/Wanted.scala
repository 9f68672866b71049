package sparkrules.text

import org.apache.spark.unsafe.types.UTF8String

/**
 * A string to find in another: anywhere, at its start, at its end, or as the whole of it. Bytes are compared. That is
 * right also for strings that are not UTF-8: Java decodes invalid bytes as U+FFFD, and all characters around them as
 * they are. So only U+FFFD itself cannot be found by its bytes.
 *
 * @param anyCase whether to ignore the case of ASCII letters; `text` is then in lower case
 * @param orLastLine whether, if it is `atEnd`, a line terminator may follow: what `$` means
 */
final case class Piece(
    text: UTF8String,
    atStart: Boolean = false,
    atEnd: Boolean = false,
    anyCase: Boolean = false,
    orLastLine: Boolean = false) {

  /** This string followed by another; None if that is not a single string. */
  def followedBy(next: Piece): Option[Piece] = {
    val apart = atEnd && next.text.numBytes > 0 || next.atStart && text.numBytes > 0
    val mixed = anyCase != next.anyCase && Piece.hasLetters((if (anyCase) next else this).text)
    if (apart || mixed) None
    else {
      val both = UTF8String.concat(text, next.text)
      val isStrict = atEnd && !orLastLine || next.atEnd && !next.orLastLine
      val endsLine = (orLastLine || next.orLastLine) && !isStrict
      Some(Piece(both, atStart || next.atStart, atEnd || next.atEnd, anyCase || next.anyCase, endsLine))
    }
  }
}

object Piece {
  val Nothing: Piece = Piece(UTF8String.EMPTY_UTF8)
  val Start: Piece = Nothing.copy(atStart = true)
  val End: Piece = Nothing.copy(atEnd = true)
  val LastLineEnd: Piece = End.copy(orLastLine = true)

  /** `text`, in any case of its letters if `anyCase`. */
  def of(text: String, anyCase: Boolean): Piece = {
    val bytes = UTF8String.fromString(text)
    if (anyCase && hasLetters(bytes)) Piece(UTF8String.fromBytes(bytes.getBytes.map(lower)), anyCase = true)
    else Piece(bytes)
  }

  /** The lower case of an ASCII letter. Java ignores the case of no other letters, unless it is told to. */
  def lower(byte: Byte): Byte = if (byte >= 'A' && byte <= 'Z') (byte + 32).toByte else byte

  def hasLetters(text: UTF8String): Boolean = text.getBytes.exists { b => val l = lower(b); l >= 'a' && l <= 'z' }
}

/**
 * What a predicate looks for in a string. If one of `sure` is found, or one of `turns` is sure to be there, it is true.
 * Otherwise, if one of `maybe` is found, or one of `turns` may be there, it has to be evaluated. Otherwise it is false.
 * No piece is empty.
 */
final case class Wanted(sure: Seq[Piece], maybe: Seq[Piece], turns: Seq[Turn] = Nil) {

  /** Strings of which one is found wherever the predicate is not false. */
  def pieces: Seq[Piece] = (sure ++ maybe ++ turns.map(turn => turn.pieces(turn.rarest))).distinct

  def or(other: Wanted): Wanted =
    Wanted((sure ++ other.sure).distinct, (maybe ++ other.maybe).distinct, (turns ++ other.turns).distinct)
}
