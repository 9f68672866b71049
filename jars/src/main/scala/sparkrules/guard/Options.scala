package sparkrules.guard

import scala.util.Try

import org.apache.spark.sql.catalyst.analysis.{ExpressionWithUnresolvedIdentifier, UnresolvedFunction}
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.parser.CatalystSqlParser
import org.apache.spark.sql.types.StringType
import org.apache.spark.unsafe.types.UTF8String

/**
 * The options that functions may have. Some reach beyond the row: `rowValidationXSDPath` fetches a schema from wherever
 * the author of the rule says, `compression` loads a class by its name. So options are allowed by name, as in Python
 * (`options.py`).
 *
 * Spark's analyzer reads options, and evaluates the functions that compute a schema. So the parsed expression is
 * checked before the analyzer sees it, and the analysed one again, because functions written in SQL can have options,
 * too. Schemas are bounded here as well, as in Python (`schema_text.py`): Spark parses them like SQL.
 */
object Options {

  /** Why the analyzer must not see a parsed expression. */
  def rejection(parsed: Expression): Option[String] = parsed.collectFirst(Function.unlift {
    case _: PlanExpression[_] => Some("it contains a subquery")
    case f: UnresolvedFunction => rejection(f.nameParts.last, f.arguments)
    case i: ExpressionWithUnresolvedIdentifier => rejection(i)
    case _ => None
  })

  /** Why an analysed expression is rejected: it has an option that no rule may use. */
  def rejectionOf(analyzed: Expression): Option[String] = givenTo(analyzed).flatMap { case (function, options) =>
    options.keys.flatMap(forbidden(function, _)).headOption
  }

  private def rejection(name: String, arguments: Seq[Expression]): Option[String] = {
    val function = name.toLowerCase
    if (Reflective(function)) Some("it calls a method of Java")
    else if (Protobuf(function)) Some(s"$function reads files and loads classes")
    else {
      Allowed.get(function).flatMap { case (at, _) => arguments.lift(at).flatMap(rejectionOf(function, _)) }
        .orElse(if (WithSchema(function)) arguments.lift(1).flatMap(rejectionOfSchema(function, _)) else None)
    }
  }

  private def rejection(identifier: ExpressionWithUnresolvedIdentifier): Option[String] =
    identifier.identifierExpr match {
      case Literal(name: UTF8String, _: StringType) =>
        Try(CatalystSqlParser.parseMultipartIdentifier(name.toString)).toOption
          .flatMap(parts => rejection(parts.last, identifier.otherExprs))
      case _ => Some("it computes a name; write the name itself")
    }

  private def rejectionOf(function: String, options: Expression): Option[String] = options match {
    case map: UnresolvedFunction if map.nameParts.map(_.toLowerCase) == Seq("map") && map.arguments.forall(isText) =>
      map.arguments.grouped(2).map(_.head).collectFirst(Function.unlift {
        case Literal(key, _) => forbidden(function, String.valueOf(key))
        case _ => None
      })
    case _ => Some(s"the options of $function are not constants; write them as map('mode', 'FAILFAST')")
  }

  /** Spark's parser takes seconds for a long schema, and its time grows with the square of the depth. */
  private def rejectionOfSchema(function: String, schema: Expression): Option[String] = schema match {
    case Literal(text: UTF8String, _: StringType) =>
      if (text.numBytes > MostSchemaBytes) Some(f"the schema of $function has more than $MostSchemaBytes%,d bytes")
      else if (depthOf(text.toString) > MostSchemaDepth) {
        Some(s"the schema of $function is nested deeper than $MostSchemaDepth levels")
      } else None
    case _ => None
  }

  private def depthOf(schema: String): Int = {
    var (depth, deepest) = (0, 0)
    schema.foreach {
      case '<' | '(' | '{' | '[' => depth += 1; deepest = math.max(deepest, depth)
      case '>' | ')' | '}' | ']' => depth -= 1
      case _ =>
    }
    deepest
  }

  private def isText(e: Expression): Boolean = e match {
    case Literal(_: UTF8String, _: StringType) => true
    case _ => false
  }

  private def forbidden(function: String, key: String): Option[String] =
    if (Allowed(function)._2(key.toLowerCase)) None
    else Some(s"the option $key of $function is not allowed in a rule")

  private def givenTo(analyzed: Expression): Option[(String, Map[String, String])] = analyzed match {
    case e: JsonToStructs => Some("from_json" -> e.options)
    case e: StructsToJson => Some("to_json" -> e.options)
    case e: SchemaOfJson => Some("schema_of_json" -> e.options)
    case e: CsvToStructs => Some("from_csv" -> e.options)
    case e: StructsToCsv => Some("to_csv" -> e.options)
    case e: SchemaOfCsv => Some("schema_of_csv" -> e.options)
    case e: XmlToStructs => Some("from_xml" -> e.options)
    case e: StructsToXml => Some("to_xml" -> e.options)
    case e: SchemaOfXml => Some("schema_of_xml" -> e.options)
    case _ => None
  }

  private val MostSchemaBytes = 100000
  private val MostSchemaDepth = 100
  private val WithSchema = Set("from_json", "from_csv", "from_xml", "from_avro")
  private val Reflective = Set("reflect", "java_method", "try_reflect")
  private val Protobuf = Set("from_protobuf", "to_protobuf")

  private val times = "dateFormat locale timeFormat timeZone timestampFormat timestampNTZFormat"
  private val reading = s"$times columnNameOfCorruptRecord mode"
  private val jsonReading =
    s"""$reading allowBackslashEscapingAnyCharacter allowComments allowNonNumericNumbers allowNumericLeadingZeros
       |allowSingleQuotes allowUnquotedControlChars allowUnquotedFieldNames dropFieldIfAllNull
       |enableDateTimeParsingFallback inferTimestamp prefersDecimal primitivesAsString""".stripMargin
  private val csv =
    s"""$times charToEscapeQuoteEscaping comment delimiter emptyValue escape ignoreLeadingWhiteSpace
       |ignoreTrailingWhiteSpace nullValue quote sep""".stripMargin
  private val csvReading =
    s"""$csv $reading enableDateTimeParsingFallback inferSchema nanValue negativeInf positiveInf preferDate
       |unescapedQuoteHandling""".stripMargin
  private val xml = s"$times attributePrefix nullValue rowTag validateName valueTag"
  private val xmlReading =
    s"""$xml $reading excludeAttribute ignoreNamespace ignoreSurroundingSpaces inferSchema preferDate prefersDecimal
       |wildcardColName""".stripMargin
  private val avro =
    "avroSchema enableStableIdentifiersForUnionType mode recursiveFieldMaxDepth stableIdentifierPrefixForUnionType"

  // By function: the position of the options among the arguments, from 0, and the allowed keys.
  private val Allowed: Map[String, (Int, Set[String])] = Map(
    "from_json" -> (2, jsonReading),
    "schema_of_json" -> (1, jsonReading),
    "to_json" -> (1, s"$times ignoreNullFields pretty sortKeys writeNonAsciiCharacterAsCodePoint"),
    "from_csv" -> (2, csvReading),
    "schema_of_csv" -> (1, csvReading),
    "to_csv" -> (1, s"$csv escapeQuotes quoteAll"),
    "from_xml" -> (2, xmlReading),
    "schema_of_xml" -> (1, xmlReading),
    "to_xml" -> (1, s"$xml arrayElementName declaration indent rootTag"),
    "from_avro" -> (2, avro),
    "schema_of_avro" -> (1, avro))
    .map { case (function, (at, keys)) => function -> (at, keys.toLowerCase.split("\\s+").toSet) }
}
