package sparkrules.bind

import scala.collection.mutable

import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression, Literal, Lower, Upper}
import org.apache.spark.sql.catalyst.util.SparkParserUtils
import org.apache.spark.sql.types.{BooleanType, DataType, NullType, StringType}
import org.apache.spark.unsafe.types.UTF8String

import sparkrules.guard.Rejection
import sparkrules.store.Segment

/** The constants of a segment, with the types that Spark's parser gives them. */
final class Constants(segment: Segment, analysis: Analysis) {
  private val stored = segment.forest.constants
  private val isSql: Int => Boolean = i => stored.kinds(i) == "sql"

  private val expressions: Array[Either[Rejection, Expression]] = {
    val parser = new ConstantParser(analysis)
    val all = Array.tabulate(stored.size)(i => parser.parse(stored.kinds(i), stored.texts(i)))
    val open = all.indices.filter(i => all(i).exists(!_.resolved) || all(i).isRight && isSql(i))
    open.zip(analysis.analyze(open.flatMap(all(_).toOption))).foreach { case (i, analyzed) => all(i) = analyzed }
    all
  }

  // Per constant: the same, or of `lower('...')` and `upper('...')` what Spark computes.
  private lazy val computed: Array[Either[Rejection, Expression]] = {
    val all = expressions.clone()
    val open = all.indices.filter(i => all(i).exists(Constants.isCaseOfString))
    open.zip(analysis.evaluated(open.flatMap(all(_).toOption))).foreach { case (i, value) =>
      value.filter(_ != null).foreach(text => all(i) = Right(Literal(text, StringType)))
    }
    all
  }

  def apply(i: Int): Either[Rejection, Expression] = expressions(i)

  /**
   * The constants that `attribute` is compared with. Where all are strings of binary collation, Spark converts none,
   * whether it is written or computed: then those that are computed need not be analysed one by one.
   */
  def comparedWith(attribute: Expression, own: Seq[Int]): Seq[Either[Rejection, Expression]] = {
    val written = own.map(expressions(_))
    if (Constants.isPlainString(attribute) && written.forall(_.exists(c => Constants.ofStrings(c.dataType))))
      own.map(computed(_))
    else written
  }
}

private object Constants {
  private val ofStrings: Set[DataType] = Set(StringType, NullType)

  private def isCaseOfString(constant: Expression): Boolean = constant match {
    case Lower(Literal(_: UTF8String, StringType)) | Upper(Literal(_: UTF8String, StringType)) => true
    case _ => false
  }

  /** A string to which Spark does not pad constants either. */
  private def isPlainString(attribute: Expression): Boolean = attribute.dataType == StringType && (attribute match {
    case column: Attribute => Column.charLength(column).isEmpty
    case _ => true
  })
}

/**
 * Gives constants the types that Spark's parser gives them. In a fresh JVM the parser takes a third of a millisecond
 * for each; so it does not see plain numbers, and of `lower('...')`, which rules that ignore case have by the thousand,
 * it sees one example, in which the string is replaced.
 */
private final class ConstantParser(analysis: Analysis) {
  import ConstantParser._

  private val examples = mutable.HashMap.empty[String, Either[Rejection, Expression]]

  /** @param kind as docs/store-format.md has them */
  def parse(kind: String, text: String): Either[Rejection, Expression] = kind match {
    case "null" => Right(Literal(null))
    case "boolean" => Right(Literal.create(text == "true", BooleanType))
    case "string" => Right(Literal(text))
    case "integer" =>
      val value = BigDecimal(text)
      if (value.isValidInt) Right(Literal(value.toInt))
      else if (value.isValidLong) Right(Literal(value.toLong))
      else analysis.parse(text)
    case "decimal" if Digits.matches(text) => Right(Literal(new java.math.BigDecimal(text)))
    case _ => text match {
        case CaseOfString(function, quoted) if isString(quoted) => caseOf(function, quoted)
        case _ => analysis.parse(text)
      }
  }

  private def caseOf(function: String, quoted: String): Either[Rejection, Expression] = {
    val value = UTF8String.fromString(SparkParserUtils.unescapeSQLString(quoted))
    examples.getOrElseUpdate(function, analysis.parse(s"$function('$Example')")).map(_.transform {
      case Literal(ExampleValue, dataType) => Literal(value, dataType)
    })
  }

  /** Whether the quotes are those of one string, of which [[caseOf]] knows the value. */
  private def isString(quoted: String): Boolean = {
    var i = 1
    while (i < quoted.length - 1 && quoted(i) != '\'') i += (if (quoted(i) == '\\') 2 else 1)
    i == quoted.length - 1 && (analysis.unescapes || !quoted.contains('\\'))
  }
}

private object ConstantParser {
  private val Digits = """-?\d{1,18}\.\d{1,18}""".r
  private val CaseOfString = """(?s)(lower|upper)\(('.*')\)""".r
  private val Example = "a"
  private val ExampleValue = UTF8String.fromString(Example)
}
