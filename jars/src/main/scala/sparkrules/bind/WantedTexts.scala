package sparkrules.bind

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types.StringType
import org.apache.spark.unsafe.types.UTF8String

import sparkrules.guard.{BoundedTest, Foreseen, MeteredRow}
import sparkrules.text.{LikeReader, PatternTexts, Piece, RegexReader, RegexTexts, TextPattern, Wanted}

/** Finds out which strings a predicate looks for. */
object WantedTexts {

  /** What a predicate looks for in the string that is its input, if that is known. */
  def of(test: Expression): Option[Wanted] = test match {
    case Contains(Operand(), Text(text)) => one(Piece(text))
    case StartsWith(Operand(), Text(text)) => one(Piece(text, atStart = true))
    case EndsWith(Operand(), Text(text)) => one(Piece(text, atEnd = true))
    case EqualTo(Operand(), Text(text)) => one(Piece(text, atStart = true, atEnd = true))
    case EqualTo(text: Literal, operand: BoundReference) => of(EqualTo(operand, text))
    case MeteredRow(child, _) => of(child)
    case Foreseen(child, _) => of(child)
    case BoundedTest(regex, _) => of(regex)
    case Like(Operand(), Text(pattern), escape) => LikeReader(pattern.toString, escape).flatMap(searched(_, Nil))
    case RLike(Operand(), Text(pattern)) =>
      RegexReader(pattern.toString).map(RegexTexts(_)).flatMap { case (regex, doubts) => searched(regex, doubts) }
    case And(left, right) =>
      Seq(left, right).flatMap(of(_)).map(_.pieces).minByOption(TextPattern.weakness).map(Wanted(Nil, _))
    case Or(left, right) => for (some <- of(left); others <- of(right)) yield some.or(others)
    case _ => None
  }

  private def one(part: Piece): Option[Wanted] = Option.when(part.text.numBytes > 0)(Wanted(Seq(part), Nil))

  private def searched(pattern: TextPattern, doubts: Seq[Piece]): Option[Wanted] =
    PatternTexts(TextPattern.trimmed(pattern)).map(_.or(Wanted(Nil, doubts)))

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
