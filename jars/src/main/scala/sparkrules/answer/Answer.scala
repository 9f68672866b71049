package sparkrules.answer

import java.util.BitSet

import org.apache.spark.sparkrules.RuleError
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{AttributeReference, Expression, GenericInternalRow}
import org.apache.spark.sql.catalyst.util.{ArrayData, GenericArrayData}
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

import sparkrules.program.IdBuffer
import sparkrules.version.VersionMatcher

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

  /** One element for each value that Spark had to compute: as SQL, how long that took, and for which rules. */
  case object Costs extends Answer(
        "costs",
        ArrayType(
          new StructType()
            .add("test", StringType, nullable = false)
            .add("nanoseconds", LongType, nullable = false)
            .add("subscription_ids", Strings, nullable = false),
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

/**
 * Matches a row and turns what is found into the values of the wanted answers.
 *
 * @param instant that of the query, in microseconds, if it decides which rules can match
 * @param areCopied whether the answers for a row are copied before those of the next are asked for
 */
final class Answers(request: AnswerRequest, inputs: Seq[Expression], instant: Option[Long], areCopied: Boolean) {
  import request.{answers, rules}

  val matcher = new VersionMatcher(rules, inputs, instant)
  private lazy val overlaps = new Overlaps(matcher, request.sharedNodes)
  private val isStrict = matcher.parts.exists(_.program.texts.nonEmpty)
  private val needsIds = answers.contains(Answer.Ids) || answers.contains(Answer.Overlaps)
  private val needsPartners = answers.contains(Answer.Overlap)
  private lazy val ranges = new Ranges(matcher.parts(0))
  // From the first row on.
  private val costs =
    if (!answers.contains(Answer.Costs)) Nil
    else matcher.parts.indices.map(p => new Costs(matcher.parts(p), rules.parts(p).forest))
  private val result = new GenericInternalRow(answers.length)
  private val (buffer, overlapBuffer) = (new IdBuffer(isReused = areCopied), new IdBuffer(isReused = areCopied))

  def run(row: InternalRow): Unit = {
    matcher.run(row)
    if (isStrict) matcher.parts.indices.foreach(p => matcher.parts(p).requireNoErrors(rules.parts(p).forest))
  }

  /** The answers for the row; the same object each time, with new values. */
  def ofRow(): InternalRow = {
    matcher.sort()
    val ids = if (needsIds) matcher.idArray(buffer) else null
    var i = 0
    while (i < answers.length) {
      result.update(i, answers(i) match {
        case Answer.Ids => ids
        case Answer.Overlaps =>
          overlaps.find()
          IdsOfGroups.arrays(overlaps, ids, overlapBuffer)
        case Answer.Rows => rows()
        case Answer.Errors => errors()
        case Answer.Ranges => ranges.ofRow()
        case Answer.Costs => Costs.array(costs)
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
      var i = 0
      while (i < answers.length) {
        result.update(i, answers(i) match {
          case Answer.SubscriptionId => matcher.id(m)
          case Answer.Priority => matcher.priority(m)
          case Answer.Overlap => matcher.idArray(partners(m), buffer)
          case other => throw new IllegalStateException(s"$other is of a row, not of a match")
        })
        i += 1
      }
      result
    }
  }

  private def errors(): ArrayData = {
    val found = for {
      p <- matcher.parts.indices
      part = matcher.parts(p)
      (slot, error) <- part.failures()
      subscription <- rules.parts(p).forest.users(slot)
      if !part.isHidden(subscription)
    } yield (matcher.place(p, subscription), part.program.ids(subscription), RuleError.message(error))
    new GenericArrayData(found.distinct.sortBy(_._1).map { case (_, id, message) =>
      InternalRow(id, UTF8String.fromString(message))
    }.toArray[Any])
  }

  private def rows(): ArrayData = {
    val partners = partnersOf()
    val buffer = new IdBuffer(isReused = false)
    new GenericArrayData(Array.tabulate[Any](matcher.count) { m =>
      InternalRow(matcher.id(m), matcher.priority(m), matcher.idArray(partners(m), buffer))
    })
  }

  /** Per match: the positions of the others that share a true subexpression. */
  private def partnersOf(): Array[Array[Int]] = {
    val partners = Array.fill(matcher.count)(new BitSet)
    overlaps.find()
    (0 until overlaps.count).foreach { group =>
      val (together, from) = (new BitSet, overlaps.start(group))
      val until = from + overlaps.size(group)
      (from until until).foreach(i => together.set(overlaps.members(i)))
      (from until until).foreach(i => partners(overlaps.members(i)).or(together))
    }
    Array.tabulate(partners.length) { i =>
      partners(i).clear(i)
      partners(i).stream.toArray
    }
  }
}
