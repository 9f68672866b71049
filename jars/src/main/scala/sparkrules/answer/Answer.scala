package sparkrules.answer

import org.apache.spark.sql.catalyst.expressions.AttributeReference
import org.apache.spark.sql.types.{ArrayType, DataType, IntegerType, LongType, StringType, StructField, StructType}

import sparkrules.label.RuleField

/** What a query may want to know of matches; each is a column of `Match`, computed only when it is used. */
sealed abstract class Answer(val name: String, val dataType: DataType, val nullable: Boolean = false)
    extends Product
    with Serializable {
  def attribute: AttributeReference = AttributeReference(name, dataType, nullable)()

  /** The fields of rules that it tells. */
  def fields: Seq[RuleField] = Nil
}

object Answer {
  private val Strings = ArrayType(StringType, containsNull = false)

  /** The rules that match. */
  case object Ids extends Answer("ids", Strings)

  /** The groups of them that share a true subexpression. */
  case object Overlaps extends Answer("overlaps", ArrayType(Strings, containsNull = false))

  /** Of a single match: its rule, and the others of the row that share a true subexpression with it. */
  case object RuleId extends Answer("subscription_id", StringType)
  case object Priority extends Answer("priority", IntegerType)
  case object Overlap extends Answer("overlap", Strings)

  /** Of a single match: what its rule has in a field of its metadata. */
  final case class Field(field: RuleField) extends Answer(field.name, field.dataType, nullable = true) {
    override def fields: Seq[RuleField] = Seq(field)
  }

  /** Of a single match: the status of the rules that the call asks. */
  final case class Status(status: String) extends Answer("status", StringType)

  /** The number of the version. */
  case object Version extends Answer("version", LongType)

  /**
   * One element per match, which has these answers.
   *
   * @param hasShadow whether the matches of shadow rules follow: they are asked by a call of their own
   */
  final case class Rows(override val name: String, of: Seq[Answer], hasShadow: Boolean = false)
      extends Answer(
        name, ArrayType(StructType(of.map(a => StructField(a.name, a.dataType, a.nullable))), containsNull = false)) {
    override def fields: Seq[RuleField] = of.flatMap(_.fields)
  }

  /** The shadow rules that match; a call of its own asks for them. */
  case object ShadowIds extends Answer("shadow", Strings)

  /** One element for each predicate that a rule could not compute: the rule, and what Spark says of it. */
  case object Errors extends Answer("errors", StructArray("subscription_id" -> StringType, "message" -> StringType)())

  /** One element for each value that Spark had to compute: as SQL, how long that took, and for which rules. */
  case object Costs
      extends Answer(
        "costs", StructArray("test" -> StringType, "nanoseconds" -> LongType, "subscription_ids" -> Strings)())

  /** One element for each value that Spark computes, whether a rule needs it or not: how long that takes. */
  case object Times
      extends Answer("times", StructArray("attribute" -> StringType, "nanoseconds" -> LongType)())

  /** One element for each attribute: the range, among those that the rules' constants make, of its value. */
  case object Ranges
      extends Answer(
        "ranges",
        StructArray("attribute" -> StringType, "position" -> IntegerType)("lower" -> StringType, "upper" -> StringType))
}
