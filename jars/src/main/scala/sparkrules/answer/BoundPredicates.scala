package sparkrules.answer

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.LeafExpression
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenFallback
import org.apache.spark.sql.catalyst.util.{ArrayData, GenericArrayData}
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

import sparkrules.bind.{Bound, SlotTexts}
import sparkrules.value.Codes

/**
 * The predicates of a rule set as they are bound to a table: among the ranges of which attribute they are true. The
 * same for every row, but no literal: plans print those, and this may be long.
 */
final case class BoundPredicates(tests: ArrayData) extends LeafExpression with CodegenFallback {
  override def dataType: DataType = BoundPredicates.Type
  override def nullable: Boolean = false
  override def prettyName: String = "subscription_tests"
  override def toString: String = s"$prettyName(${tests.numElements()})"
  override def eval(input: InternalRow): Any = tests
}

object BoundPredicates {
  private val Type = ArrayType(
    new StructType()
      .add("predicate", IntegerType, nullable = false)
      .add("attribute", StringType, nullable = false)
      .add("positions", IntegerType, nullable = false)
      .add("search", StringType, nullable = false)
      .add("first", IntegerType)
      .add("last", IntegerType)
      .add("share", DoubleType),
    containsNull = false)

  /**
   * An element for each interval of ranges where a predicate is true; one that is never true has one without bounds.
   */
  def of(bound: Bound): BoundPredicates = {
    val attributes =
      SlotTexts.of(bound.slots.map(_.expression), bound.slots.map(_.base)).map(UTF8String.fromString)
    val searches = bound.slots.map(slot => UTF8String.fromString(slot.keys.search))
    val tests = bound.predicates.indices.flatMap { predicate =>
      bound.predicates(predicate).toSeq.flatMap { leaf =>
        val slot = bound.slots(leaf.slot)
        def test(first: Any, last: Any, interval: Array[Int]) = InternalRow(
          predicate, attributes(leaf.slot), slot.keys.maxCode + 1, searches(leaf.slot), first, last,
          slot.selectivity(interval).map(Double.box).orNull)
        if (leaf.intervals.isEmpty) Seq(test(null, null, leaf.intervals))
        else Codes.pairs(leaf.intervals).map { case (first, last) => test(first, last, Array(first, last)) }.toSeq
      }
    }
    BoundPredicates(new GenericArrayData(tests.toArray[Any]))
  }
}
