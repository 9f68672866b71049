package sparkrules.text

import org.apache.spark.unsafe.types.UTF8String

/**
 * A text to be found in another: anywhere, at its start, at its end, or as the whole of it. Bytes are compared, which
 * is right for texts that are not UTF-8 as well: where Java decodes them, it reads U+FFFD for what is no character, and
 * all characters around it as they are. So only U+FFFD itself cannot be told by its bytes.
 *
 * @param anyCase whether ASCII letters are equal to their other case; `text` is then in lower case
 */
final case class Piece(text: UTF8String, atStart: Boolean = false, atEnd: Boolean = false, anyCase: Boolean = false) {

  /** This text followed by another, unless that is no such text. */
  def followedBy(next: Piece): Option[Piece] = {
    val apart = atEnd && next.text.numBytes > 0 || next.atStart && text.numBytes > 0
    val mixed = anyCase != next.anyCase && Piece.hasLetters((if (anyCase) next else this).text)
    if (apart || mixed) None
    else {
      val both = UTF8String.concat(text, next.text)
      Some(Piece(both, atStart || next.atStart, atEnd || next.atEnd, anyCase || next.anyCase))
    }
  }
}

object Piece {
  val Nothing: Piece = Piece(UTF8String.EMPTY_UTF8)
  val Start: Piece = Nothing.copy(atStart = true)
  val End: Piece = Nothing.copy(atEnd = true)

  /** `text` as it stands or, if it has letters, in any case of them. */
  def of(text: String, anyCase: Boolean): Piece = {
    val bytes = UTF8String.fromString(text)
    if (anyCase && hasLetters(bytes)) Piece(UTF8String.fromBytes(bytes.getBytes.map(lower)), anyCase = true)
    else Piece(bytes)
  }

  /** Java ignores the case of ASCII letters only, unless it is told otherwise: not that of the Kelvin sign. */
  def lower(byte: Byte): Byte = if (byte >= 'A' && byte <= 'Z') (byte + 32).toByte else byte

  def hasLetters(text: UTF8String): Boolean = text.getBytes.exists { b => val l = lower(b); l >= 'a' && l <= 'z' }
}

/**
 * What a test of a text looks for: it is true if one of `sure` is found; else, if one of `maybe` is found, it has to be
 * asked; else it is false. Each part has a length.
 */
final case class Wanted(sure: Seq[Piece], maybe: Seq[Piece])
