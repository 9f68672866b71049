package sparkrules.answer

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types.{DoubleType, IntegerType, StringType}
import org.apache.spark.unsafe.types.UTF8String

import sparkrules.bind.{Bound, SlotTexts}
import sparkrules.value.Codes

/** The predicates of a rule set, bound to a table: in which ranges of which attribute each is true. */
object BoundPredicates {
  private val Type = StructArray(
    "predicate" -> IntegerType, "attribute" -> StringType, "positions" -> IntegerType, "search" -> StringType)(
    "first" -> IntegerType, "last" -> IntegerType, "share" -> DoubleType, "type" -> StringType)

  /** A row for each interval of ranges where a predicate is true; one that is never true has a row without bounds. */
  def of(bound: Bound): ConstantTable = {
    val attributes = SlotTexts.of(bound.slots.map(_.expression), bound.slots.map(_.base)).map(UTF8String.fromString)
    val types = bound.slots.map(slot => UTF8String.fromString(slot.expression.dataType.sql))
    val searches = bound.slots.map(slot => UTF8String.fromString(slot.keys.search))
    val rows = bound.predicates.indices.flatMap { number =>
      bound.predicates(number).toSeq.flatMap { predicate =>
        val slot = bound.slots(predicate.slot)
        def row(first: Any, last: Any, interval: Array[Int]) = InternalRow(
          number, attributes(predicate.slot), slot.keys.maxCode + 1, searches(predicate.slot), first, last,
          slot.selectivity(interval).map(Double.box).orNull, types(predicate.slot))
        if (predicate.intervals.isEmpty) Seq(row(null, null, predicate.intervals))
        else Codes.pairs(predicate.intervals).map { case (first, last) => row(first, last, Array(first, last)) }.toSeq
      }
    }
    ConstantTable("subscription_tests", Type, StructArray.of(rows))
  }
}
