package sparkrules.catalog

import org.apache.spark.sql.catalyst.util.GenericArrayData
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

import sparkrules.pattern.{Pattern, PatternFile}
import sparkrules.store.{Manifest, Store}

/** The patterns of a version, over the rows that its rules match. */
final case class PatternTable(store: String, ruleSet: String, number: Long)
    extends LocalTable("patterns", PatternTable.Columns) {
  import PatternTable._

  override def rows(store: Store): Seq[String => Any] =
    PatternFile.read(store, Manifest.read(store, ruleSet, number)).map(row)

  private def row(pattern: Pattern): String => Any = {
    case "id" => UTF8String.fromString(pattern.id)
    case "kind" => UTF8String.fromString(pattern.kind.name)
    case "steps" => new GenericArrayData(pattern.steps.map(terms => texts(terms.map(_.text))))
    case "by" => texts(pattern.by)
    case "within" => span(pattern.within)
    case "after" => span(pattern.after)
    case "at_least" => if (pattern.isCounting) pattern.atLeast else null
    case "distinct" => pattern.distinct.map(UTF8String.fromString).orNull
    case "overlapping" => pattern.isOverlapping
    case "suppress" => span(pattern.suppress)
    case _ => pattern.metadata.map(UTF8String.fromString).orNull
  }
}

private object PatternTable {
  private val Texts = ArrayType(StringType, containsNull = false)

  val Columns: Seq[ColumnOf] = Seq(
    ColumnOf("id", StringType, "id of the pattern", nullable = false),
    ColumnOf("kind", StringType, "sequence, together, count, absence, change or match", nullable = false),
    ColumnOf(
      "steps",
      ArrayType(Texts, containsNull = false),
      "for each step the ids of rules, or conditions, any of which fulfils it",
      nullable = false),
    ColumnOf("by", Texts, "the columns that rows must have in common", nullable = false),
    ColumnOf("within", DayTimeIntervalType(), "the longest time between the first and the last row"),
    ColumnOf("after", DayTimeIntervalType(), "the shortest time between them"),
    ColumnOf("at_least", IntegerType, "how many rows or values a count needs"),
    ColumnOf("distinct", StringType, "the column whose values are counted, instead of rows"),
    ColumnOf("overlapping", BooleanType, "whether a row may be part of several detections", nullable = false),
    ColumnOf("suppress", DayTimeIntervalType(), "for how long after a detection others are only counted"),
    ColumnOf("metadata", StringType, "what its author has noted, as JSON"))

  private def texts(all: Seq[String]): GenericArrayData = new GenericArrayData(all.map(UTF8String.fromString))

  private def span(micros: Long): Any = if (micros == 0) null else micros
}
