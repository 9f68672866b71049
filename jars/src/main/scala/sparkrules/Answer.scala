package sparkrules

import java.util.{Arrays, BitSet}

import org.apache.spark.sparkrules.RuleError
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{AttributeReference, GenericInternalRow}
import org.apache.spark.sql.catalyst.util.{ArrayData, GenericArrayData}
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

/** What a query may want to know of a row's matches; each is a column of [[Match]], computed only when it is used. */
sealed abstract class Answer(val name: String, val dataType: DataType) extends Product with Serializable {
  def attribute: AttributeReference = AttributeReference(name, dataType, nullable = false)()
}

object Answer {
  private val Strings = ArrayType(StringType, containsNull = false)

  /** The matching subscriptions. */
  case object Ids extends Answer("ids", Strings)

  /** The groups of them that share a true subexpression. */
  case object Overlaps extends Answer("overlaps", ArrayType(Strings, containsNull = false))

  /** One element per match, for results with a row per match. */
  case object Rows extends Answer(
        "rows",
        ArrayType(
          new StructType()
            .add("subscription_id", StringType, nullable = false)
            .add("priority", IntegerType, nullable = false)
            .add("overlap", Strings, nullable = false),
          containsNull = false))

  /** One element for each test that a rule could not compute: the rule, and what Spark says of it. */
  case object Errors extends Answer(
        "errors",
        ArrayType(
          new StructType()
            .add("subscription_id", StringType, nullable = false)
            .add("message", StringType, nullable = false),
          containsNull = false))

  /** One element for each attribute: the range, among those that the rules' constants make, of its value. */
  case object Ranges extends Answer(
        "ranges",
        ArrayType(
          new StructType()
            .add("attribute", StringType, nullable = false)
            .add("position", IntegerType, nullable = false)
            .add("lower", StringType)
            .add("upper", StringType),
          containsNull = false))
}

/** Turns what a [[Matcher]] found in a row into the values of `answers`. */
final class Answers(matcher: Matcher, answers: Seq[Answer]) {
  private val overlaps = new Overlaps(matcher)
  private val needsOverlaps = answers.exists(a => a == Answer.Overlaps || a == Answer.Rows)
  private lazy val ranges = new Ranges(matcher)
  private val result = new GenericInternalRow(answers.length)

  /** The same row each time, with new values. */
  def of(row: InternalRow): InternalRow = {
    matcher.run(row)
    val sets = if (needsOverlaps) overlaps.sets() else Array.empty[Array[Int]]
    var i = 0
    while (i < answers.length) {
      result.update(i, answers(i) match {
        case Answer.Ids => ids(matcher.count, matcher.matched)
        case Answer.Overlaps => new GenericArrayData(sets.map[Any](set => ids(set.length, set(_))))
        case Answer.Rows => rows(sets)
        case Answer.Errors => errors()
        case Answer.Ranges => ranges.ofRow()
      })
      i += 1
    }
    result
  }

  private def ids(count: Int, subscription: Int => Int): ArrayData = {
    val texts = new Array[Any](count)
    var i = 0
    while (i < count) { texts(i) = matcher.program.ids(subscription(i)); i += 1 }
    new GenericArrayData(texts)
  }

  private def errors(): ArrayData = {
    val found = matcher.failures().flatMap { case (slot, error) =>
      matcher.program.users(slot).map(subscription => subscription -> RuleError.message(error))
    }
    new GenericArrayData(found.distinct.sortBy(_._1).map { case (subscription, message) =>
      InternalRow(matcher.program.ids(subscription), UTF8String.fromString(message))
    }.toArray[Any])
  }

  private def rows(sets: Array[Array[Int]]): ArrayData = {
    val found = Array.tabulate(matcher.count)(matcher.matched)
    val partners = Array.fill(found.length)(new BitSet)
    sets.foreach { set =>
      val positions = set.map(Arrays.binarySearch(found, _))
      val together = new BitSet
      positions.foreach(together.set)
      positions.foreach(partners(_).or(together))
    }
    new GenericArrayData(Array.tabulate[Any](found.length) { i =>
      partners(i).clear(i)
      val others = partners(i).stream.toArray
      InternalRow(
        matcher.program.ids(found(i)), matcher.program.priorities(found(i)), ids(others.length, j => found(others(j))))
    })
  }
}
