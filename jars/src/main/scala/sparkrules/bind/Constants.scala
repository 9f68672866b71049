package sparkrules.bind

import org.apache.spark.sql.catalyst.expressions.{Expression, Literal}
import org.apache.spark.sql.types.BooleanType

import sparkrules.guard.Rejection
import sparkrules.store.Segment

/** The constants of a segment, with the types that Spark's parser gives them. */
final class Constants(segment: Segment, analysis: Analysis) {
  private val expressions: Array[Either[Rejection, Expression]] = {
    val stored = segment.forest.constants
    val parsed = (0 until stored.size).map(i => parse(stored.kinds(i), stored.texts(i)))
    val open = parsed.indices.filter(i => parsed(i).exists(!_.resolved) || stored.kinds(i) == "sql")
    val analyzed = analysis.analyze(open.flatMap(parsed(_).toOption)).iterator
    val all = parsed.toArray
    open.foreach(i => if (all(i).isRight) all(i) = analyzed.next())
    all
  }

  def apply(i: Int): Either[Rejection, Expression] = expressions(i)

  private def parse(kind: String, text: String): Either[Rejection, Expression] = kind match {
    case "null" => Right(Literal(null))
    case "boolean" => Right(Literal.create(text == "true", BooleanType))
    case "string" => Right(Literal(text))
    case "integer" =>
      val value = BigDecimal(text)
      if (value.isValidInt) Right(Literal(value.toInt))
      else if (value.isValidLong) Right(Literal(value.toLong))
      else analysis.parse(text)
    case _ => analysis.parse(text)
  }
}
