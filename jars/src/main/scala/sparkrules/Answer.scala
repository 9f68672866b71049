package sparkrules

import java.util.{Arrays, BitSet}

import org.apache.spark.sparkrules.RuleError
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{AttributeReference, Expression, GenericInternalRow}
import org.apache.spark.sql.catalyst.util.{ArrayData, GenericArrayData}
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

/** What a query may want to know of matches; each is a column of [[Match]], computed only when it is used. */
sealed abstract class Answer(val name: String, val dataType: DataType) extends Product with Serializable {
  def attribute: AttributeReference = AttributeReference(name, dataType, nullable = false)()
}

object Answer {
  private val Strings = ArrayType(StringType, containsNull = false)

  /** The matching subscriptions. */
  case object Ids extends Answer("ids", Strings)

  /** The groups of them that share a true subexpression. */
  case object Overlaps extends Answer("overlaps", ArrayType(Strings, containsNull = false))

  /** Of a single match: its subscription, and the others of the row that share a true subexpression with it. */
  case object SubscriptionId extends Answer("subscription_id", StringType)
  case object Priority extends Answer("priority", IntegerType)
  case object Overlap extends Answer("overlap", Strings)

  /** One element per match, with these three. */
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

/** Matches a row and turns what is found into the values of `answers`. */
final class Answers(rules: PinnedRules, inputs: Seq[Expression], answers: Seq[Answer]) {
  val matcher = new Matcher(rules.program, inputs)
  private lazy val overlaps = new Overlaps(matcher, rules.forest)
  private val isStrict = matcher.program.texts.nonEmpty
  private val needsPartners = answers.contains(Answer.Overlap)
  private lazy val ranges = new Ranges(matcher)
  private val result = new GenericInternalRow(answers.length)

  def run(row: InternalRow): Unit = {
    matcher.run(row)
    if (isStrict) matcher.requireNoErrors(rules.forest)
  }

  /** The answers for the row; the same object each time, with new values. */
  def ofRow(): InternalRow = {
    matcher.sort()
    var i = 0
    while (i < answers.length) {
      result.update(i, answers(i) match {
        case Answer.Ids => ids.array(matcher.matched, 0, matcher.count)
        case Answer.Overlaps => new GenericArrayData(overlaps.sets().map[Any](set => ids.array(set, 0, set.length)))
        case Answer.Rows => rows()
        case Answer.Errors => errors()
        case Answer.Ranges => ranges.ofRow()
        case other => throw new IllegalStateException(s"$other is of a match, not of a row")
      })
      i += 1
    }
    result
  }

  /** The answers for each match of the row; the same object each time. */
  def ofMatches(): Iterator[InternalRow] = {
    matcher.sort()
    val partners = if (needsPartners) partnersOf() else Array.empty[Array[Int]]
    Iterator.range(0, matcher.count).map { m =>
      val subscription = matcher.matched(m)
      var i = 0
      while (i < answers.length) {
        result.update(i, answers(i) match {
          case Answer.SubscriptionId => ids(subscription)
          case Answer.Priority => matcher.program.priorities(subscription)
          case Answer.Overlap => ids.array(partners(m), 0, partners(m).length)
          case other => throw new IllegalStateException(s"$other is of a row, not of a match")
        })
        i += 1
      }
      result
    }
  }

  private def ids: Ids = matcher.program.ids

  private def errors(): ArrayData = {
    val found = matcher.failures().flatMap { case (slot, error) =>
      rules.forest.users(slot).map(subscription => subscription -> RuleError.message(error))
    }
    new GenericArrayData(found.distinct.sortBy(_._1).map { case (subscription, message) =>
      InternalRow(ids(subscription), UTF8String.fromString(message))
    }.toArray[Any])
  }

  private def rows(): ArrayData = {
    val partners = partnersOf()
    new GenericArrayData(Array.tabulate[Any](matcher.count) { m =>
      val subscription = matcher.matched(m)
      InternalRow(
        ids(subscription), matcher.program.priorities(subscription), ids.array(partners(m), 0, partners(m).length))
    })
  }

  /** Per match: the other matching subscriptions that share a true subexpression. */
  private def partnersOf(): Array[Array[Int]] = {
    val found = Arrays.copyOf(matcher.matched, matcher.count)
    val partners = Array.fill(found.length)(new BitSet)
    overlaps.sets().foreach { set =>
      val positions = set.map(Arrays.binarySearch(found, _))
      val together = new BitSet
      positions.foreach(together.set)
      positions.foreach(partners(_).or(together))
    }
    Array.tabulate(found.length) { i =>
      partners(i).clear(i)
      partners(i).stream.map(found(_)).toArray
    }
  }
}
