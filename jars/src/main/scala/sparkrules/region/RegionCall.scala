package sparkrules.region

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenFallback
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.types.{ArrayType, BooleanType, DataType, Metadata, StringType}

import sparkrules.bind.{Column, Question, RuleCall}
import sparkrules.conf.Semantics
import sparkrules.version.{Pinning, PinnedRules}

/** What a call returns: the ids of all that overlap, or whether any does. */
sealed abstract class RegionAnswer(val dataType: DataType) extends Product with Serializable {

  /** The function that asks a question for this answer. */
  def function(question: Question.OfRegion): String
}

object RegionAnswer {
  case object All extends RegionAnswer(ArrayType(StringType, containsNull = false)) {
    def function(question: Question.OfRegion): String = question.function
  }

  /** The scenario First of Bittner and Hinze: the search ends when one is found. */
  case object First extends RegionAnswer(BooleanType) {
    def function(question: Question.OfRegion): String = question.anyFunction
  }
}

/**
 * A call of `overlap_subscriptions` or `overlap_advertisements`, or of the functions that ask whether there is any, as
 * the user wrote it, not yet tied to a version.
 *
 * @param inputs the columns that describe the region
 */
final case class RegionCall(
    question: Question.OfRegion,
    answer: RegionAnswer,
    ruleSet: Option[String],
    names: Seq[Seq[String]],
    inputs: Seq[Expression],
    semantics: Semantics,
    instant: Expression = CurrentTimestamp())
    extends RuleCall {
  override def children: Seq[Expression] = inputs :+ instant
  override def dataType: DataType = answer.dataType
  override def nullable: Boolean = false
  override def prettyName: String = answer.function(question)
  override def sql: String = s"$prettyName(${inputs.map(_.sql).mkString(", ")})"
  override def toString: String = s"$prettyName(${inputs.mkString(", ")})"
  override protected def withNewChildrenInternal(newChildren: IndexedSeq[Expression]): RegionCall =
    copy(inputs = newChildren.init, instant = newChildren.last)

  /** How each column describes the region. */
  lazy val shapes: Seq[RegionShape] = names.zip(inputs).map { case (name, e) =>
    RegionShape.of(prettyName, name.last, e.dataType)
  }

  /** The columns whose values the call describes. Only a plain value keeps its metadata. */
  override def columns: Seq[Column] = names.indices.map { i =>
    val (dataType, input) = (shapes(i).dataType, inputs(i))
    val metadata = if (dataType == input.dataType) Column.metadataOf(input) else Metadata.empty
    Column(names(i), dataType, nullable = true, metadata)
  }

  override def exact: Boolean = true
  override def top: Option[Int] = None
}

/**
 * A call that is tied to a version. It is no operator: regions are few.
 *
 * @param inputs those columns of the call that the rules use, and `shapes` how they describe the region
 */
final case class PinnedRegion(
    answer: RegionAnswer,
    question: Question.OfRegion,
    inputs: Seq[Expression],
    shapes: Seq[RegionShape],
    rules: PinnedRules,
    instant: Option[Expression])
    extends Expression
    with CodegenFallback {
  override def children: Seq[Expression] = inputs ++ instant
  override def dataType: DataType = answer.dataType
  override def nullable: Boolean = false
  override def stateful: Boolean = true
  override def prettyName: String = answer.function(question)
  override protected def withNewChildrenInternal(newChildren: IndexedSeq[Expression]): PinnedRegion =
    copy(inputs = newChildren.take(inputs.length), instant = newChildren.drop(inputs.length).headOption)

  @transient private lazy val evaluator = new RegionEvaluator(rules, inputs, shapes, RuleCall.micros(instant))

  override def eval(input: InternalRow): Any = answer match {
    case RegionAnswer.All => evaluator.overlapping(input)
    case RegionAnswer.First => evaluator.isAnyOverlapping(input)
  }
}

object PinnedRegion {

  /** The call, tied to the version that is current now. */
  def of(session: SparkSession, call: RegionCall): PinnedRegion = {
    val pinned = Pinning.pin(session, call, isLocal = false)
    val columns = pinned.rules.parts.head.bound.columns
    PinnedRegion(
      call.answer, call.question, columns.map(call.inputs), columns.map(call.shapes), pinned.rules, pinned.instant)
  }
}
