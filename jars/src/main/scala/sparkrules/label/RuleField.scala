package sparkrules.label

import com.fasterxml.jackson.databind.JsonNode
import org.apache.spark.sql.types.{BooleanType, DataType, DoubleType, LongType, StringType}
import org.apache.spark.unsafe.types.UTF8String

import sparkrules.conf.{Listed, RulesException}
import sparkrules.store.{SegmentEntry, Store, Version}

/** A field of the metadata of rules, and the type as which a query reads it. */
final case class RuleField(name: String, dataType: DataType) {

  /** A value in Spark's representation; null where it cannot be converted to the type. */
  def valueOf(json: JsonNode): Any = dataType match {
    case LongType => if (json.isIntegralNumber && json.canConvertToLong) json.longValue else null
    case DoubleType => if (json.isNumber) json.doubleValue else null
    case BooleanType => if (json.isBoolean) json.booleanValue else null
    case _ => UTF8String.fromString(if (json.isTextual) json.textValue else json.toString)
  }
}

object RuleField {

  /** The fields of these names, with the types that suit all rules of a version. */
  def of(store: Store, version: Version, names: Seq[String]): Seq[RuleField] = {
    val segments = store.manifest(version).segments
    names.map { name =>
      val kinds = segments.flatMap(kindsOf(store, version.ruleSet, _, name)).toSet
      if (kinds.isEmpty && segments.exists(_.live > 0)) throw unknown(store, version, segments, name)
      RuleField(name, typeOf(kinds))
    }
  }

  private def kindsOf(store: Store, ruleSet: String, entry: SegmentEntry, name: String): Set[DataType] = {
    val column = FieldColumn.of(store, ruleSet, entry, name)
    val used = new Array[Boolean](column.values.length)
    val isRemoved = new java.util.BitSet
    store.removed(ruleSet, entry, column.codes.length).foreach(isRemoved.set)
    column.codes.indices.foreach(row => if (!isRemoved.get(row)) used(column.codes(row)) = true)
    column.values.indices.filter(i => i != FieldColumn.Missing && used(i)).map(i => kindOf(column.values(i))).toSet
  }

  private def kindOf(value: JsonNode): DataType =
    if (value.isBoolean) BooleanType
    else if (value.isIntegralNumber && value.canConvertToLong) LongType
    else if (value.isFloatingPointNumber) DoubleType
    else StringType

  /** Numbers are DOUBLE unless all are whole; what is mixed otherwise is STRING. */
  private def typeOf(kinds: Set[DataType]): DataType =
    if (kinds.size == 1) kinds.head
    else if (kinds == Set(LongType, DoubleType)) DoubleType
    else StringType

  private def unknown(
      store: Store, version: Version, segments: Seq[SegmentEntry], name: String): RulesException = {
    val known = segments.flatMap(FieldColumn.names(store, version.ruleSet, _)).distinct.sorted
    val others = if (known.isEmpty) "No rule has metadata." else s"There are: ${Listed(known, Shown)}."
    new RulesException(s"No rule of $version has a field '$name' in its metadata. $others")
  }

  private val Shown = 20
}
