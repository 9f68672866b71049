package sparkrules

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types.StringType
import org.apache.spark.unsafe.types.UTF8String

/**
 * A text to be found in another: anywhere, at its start, at its end, or as the whole of it. Bytes are compared, which is
 * right for texts that are not UTF-8 as well: where Java decodes them, it reads U+FFFD for what is no character, and all
 * characters around it as they are. So only U+FFFD itself cannot be told by its bytes.
 *
 * @param anyCase whether ASCII letters are equal to their other case; `text` is then in lower case
 */
final case class Part(text: UTF8String, atStart: Boolean = false, atEnd: Boolean = false, anyCase: Boolean = false) {

  /** This text followed by another, unless that is no such text. */
  def followedBy(next: Part): Option[Part] = {
    val apart = atEnd && next.text.numBytes > 0 || next.atStart && text.numBytes > 0
    val mixed = anyCase != next.anyCase && Part.hasLetters((if (anyCase) next else this).text)
    if (apart || mixed) None
    else {
      val both = UTF8String.concat(text, next.text)
      Some(Part(both, atStart || next.atStart, atEnd || next.atEnd, anyCase || next.anyCase))
    }
  }
}

object Part {
  val Nothing: Part = Part(UTF8String.EMPTY_UTF8)
  val Start: Part = Nothing.copy(atStart = true)
  val End: Part = Nothing.copy(atEnd = true)

  /** `text` as it stands or, if it has letters, in any case of them. */
  def of(text: String, anyCase: Boolean): Part = {
    val bytes = UTF8String.fromString(text)
    if (anyCase && hasLetters(bytes)) Part(UTF8String.fromBytes(bytes.getBytes.map(lower)), anyCase = true)
    else Part(bytes)
  }

  /** Java ignores the case of ASCII letters only, unless it is told otherwise: not that of the Kelvin sign. */
  def lower(byte: Byte): Byte = if (byte >= 'A' && byte <= 'Z') (byte + 32).toByte else byte

  def hasLetters(text: UTF8String): Boolean = text.getBytes.exists { b => val l = lower(b); l >= 'a' && l <= 'z' }
}

/**
 * What a test of a text looks for: it is true if one of `sure` is found; else, if one of `maybe` is found, it has to be
 * asked; else it is false. Each part has a length.
 */
final case class Wanted(sure: Seq[Part], maybe: Seq[Part])

object Wanted {

  /** What a test wants of the text that is its input, if that is known. */
  def of(test: Expression): Option[Wanted] = test match {
    case Contains(Operand(), Text(text)) => one(Part(text))
    case StartsWith(Operand(), Text(text)) => one(Part(text, atStart = true))
    case EndsWith(Operand(), Text(text)) => one(Part(text, atEnd = true))
    case EqualTo(Operand(), Text(text)) => one(Part(text, atStart = true, atEnd = true))
    case EqualTo(text: Literal, operand: BoundReference) => of(EqualTo(operand, text))
    case MeteredRow(child, _) => of(child)
    case Foreseen(child, _) => of(child)
    case BoundedTest(regex, _) => of(regex)
    case Like(Operand(), Text(pattern), escape) => LikeReader(pattern.toString, escape).flatMap(searched(_, Nil))
    case RLike(Operand(), Text(pattern)) =>
      RegexReader(pattern.toString).flatMap(RegexTexts(_)).flatMap { case (regex, doubts) => searched(regex, doubts) }
    case And(left, right) =>
      Seq(left, right).flatMap(of(_)).map(w => w.sure ++ w.maybe).minByOption(TextPattern.weakness).map(Wanted(Nil, _))
    case Or(left, right) =>
      for (some <- of(left); others <- of(right))
        yield Wanted((some.sure ++ others.sure).distinct, (some.maybe ++ others.maybe).distinct)
    case _ => None
  }

  private def one(part: Part): Option[Wanted] = Option.when(part.text.numBytes > 0)(Wanted(Seq(part), Nil))

  private def searched(pattern: TextPattern, doubts: Seq[Part]): Option[Wanted] = {
    val found = TextPattern.trimmed(pattern)
    TextPattern.all(found).filter(TextPattern.areTold).map(Wanted(_, doubts))
      .orElse(TextPattern.required(found).map(parts => Wanted(Nil, parts ++ doubts)))
  }

  private object Operand {
    def unapply(e: Expression): Boolean = e match {
      case BoundReference(0, StringType, _) => true
      case _ => false
    }
  }

  private object Text {
    def unapply(e: Expression): Option[UTF8String] = e match {
      case Literal(text: UTF8String, StringType) => Some(text)
      case _ => None
    }
  }
}
