package sparkrules.text

import scala.collection.mutable.ArrayBuffer

/** Reads a pattern of LIKE as Spark does (StringUtils.escapeLikeRegex). */
object LikeReader {

  /** The meaning of the pattern; None if it is invalid: it escapes nothing, or a character that needs no escape. */
  def apply(pattern: String, escape: Char): Option[TextPattern] = {
    val read = ArrayBuffer(TextPattern.Start)
    val literal = new StringBuilder
    def flush(): Unit = if (literal.nonEmpty) {
      read += OneOf(Seq(Piece.of(literal.result(), anyCase = false)))
      literal.clear()
    }
    var isPattern = true
    val in = pattern.codePoints().iterator()
    while (in.hasNext && isPattern) {
      in.nextInt() match {
        case c if c == escape =>
          val escaped = if (in.hasNext) in.nextInt() else -1
          if (escaped == '_' || escaped == '%' || escaped == escape) literal ++= Character.toString(escaped)
          else isPattern = false
        case '%' => flush(); read += AnyText
        case '_' | RegexTexts.Replacement => flush(); read += AnyCharacter
        case c => literal ++= Character.toString(c)
      }
    }
    flush()
    Option.when(isPattern)(TextPattern.inTurn((read += TextPattern.End).toSeq))
  }
}
