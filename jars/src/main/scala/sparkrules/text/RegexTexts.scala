package sparkrules.text

import scala.collection.mutable.ArrayBuffer

/** Regular expressions as strings that must be found. */
object RegexTexts {
  // Stands for bytes that are not UTF-8, and so cannot be found by its own bytes.
  final val Replacement = 0xfffd

  /**
   * The meaning of the regular expression, and strings that make it doubtful: with the flags `i` and `u`, a string with
   * one of these characters can match more than ASCII letters of either case.
   */
  def apply(regex: Regex): (TextPattern, Seq[Piece]) = {
    val reading = new RegexTexts
    val pattern = reading.pattern(regex)
    (pattern, if (reading.hasTwins) UnicodeCase.twinsOfAscii.map(Piece(_)) else Nil)
  }

  private val LastEnd: TextPattern = OneOf(Seq(Piece.LastLineEnd))

  private def texts(all: Seq[String], anyCase: Boolean): TextPattern = OneOf(all.map(Piece.of(_, anyCase)).distinct)

  /** A letter that equals others: one of them has to be there, which is not enough. */
  private def twins(letter: Letter): TextPattern =
    if (letter.c == Replacement) Something else Many(texts(UnicodeCase.twins(letter.c), anyCase = false))

  /** Whether a character equals others, which have other bytes. */
  private def isDoubtful(letter: Letter): Boolean =
    letter.c == Replacement || letter.c > 127 && letter.isUnicodeCase && UnicodeCase.hasTwin(letter.c)
}

private final class RegexTexts {
  import RegexTexts._

  private var hasTwins = false

  def pattern(regex: Regex): TextPattern = regex match {
    case Sequence(parts) => sequence(parts)
    case letter: Letter => sequence(Seq(letter))
    case Choice(parts) => TextPattern.anyOf(parts.map(pattern))
    case set: Characters if set.isAny => AnyCharacter
    case set @ Characters(_, flags, members) =>
      val folds = Letter('a', flags)
      if (members.isEmpty || folds.isUnicodeCase && members.exists(Character.isLetter(_))) Run(set, 1, 1, Something)
      else texts(members.map(Character.toString(_)), folds.anyCase)
    case Repeat(part, least, most, isPossessive) =>
      val own = pattern(part)
      part match {
        case _ if isPossessive => if (least > 0) Many(own) else Something
        case _ if own == AnyCharacter && least == 0 && most < 0 => AnyText
        case set: CharacterSet if most != 1 || own.isInstanceOf[Run] => Run(set, least, most, own)
        case _ if least > 0 => Many(own)
        case _ => AnyOf(Seq(if (most == 1) own else Many(own), TextPattern.Empty))
      }
    case Place(Where.TextStart) => TextPattern.Start
    case Place(Where.TextEnd) => TextPattern.End
    case Place(Where.LastLineEnd) => LastEnd
    case Place(_) | Irregular(_) => Something
  }

  private def sequence(parts: Seq[Regex]): TextPattern = {
    val patterns = ArrayBuffer.empty[TextPattern]
    val literal = new StringBuilder
    var literalFolds = false
    def flush(): Unit = if (literal.nonEmpty) {
      patterns += texts(Seq(literal.result()), literalFolds)
      literal.clear()
    }
    parts.foreach {
      case letter: Letter if !isDoubtful(letter) =>
        if (literalFolds != letter.anyCase) flush()
        literalFolds = letter.anyCase
        if (letter.isUnicodeCase && UnicodeCase.hasTwin(letter.c)) hasTwins = true
        literal ++= Character.toString(letter.c)
      case letter: Letter => flush(); patterns += twins(letter)
      case other => flush(); patterns += pattern(other)
    }
    flush()
    if (patterns.isEmpty) TextPattern.Empty else TextPattern.inTurn(patterns.toSeq)
  }
}
