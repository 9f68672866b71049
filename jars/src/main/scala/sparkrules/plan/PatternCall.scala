package sparkrules.plan

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types.{ArrayType, DataType, LongType, StringType, StructType}

import sparkrules.bind.{Question, RuleCall}
import sparkrules.conf.Semantics
import sparkrules.label.Selection
import sparkrules.pattern.Detections

/**
 * The events that a row is, for the patterns of a rule set, not yet tied to a version: [[PinPatterns]] does that when a
 * query is planned.
 *
 * @param inputs the columns that rules and patterns may use
 * @param time the column with the times of the rows
 * @param id the column that rows are called by, if detections are to name their rows
 * @param needed the rules of the patterns, once these are known
 */
final case class PatternCall(
    site: CallSite,
    inputs: Seq[Expression],
    time: Expression,
    id: Option[Expression],
    needed: Option[Set[String]] = None,
    instant: Expression = CurrentTimestamp())
    extends RuleCall {
  override def question: Question = Question.Detect
  override def ruleSet: Option[String] = site.ruleSet
  override def names: Seq[Seq[String]] = site.names
  override def semantics: Semantics = site.semantics
  override def exact: Boolean = false
  override def top: Option[Int] = None
  override def selection: Selection = Selection(needed = needed)
  override def children: Seq[Expression] = inputs ++ Seq(time, instant) ++ id
  override def dataType: DataType = PatternCall.Events
  override def nullable: Boolean = false
  override def prettyName: String = Question.Detect.function
  override protected def withNewChildrenInternal(newChildren: IndexedSeq[Expression]): PatternCall = {
    val (own, others) = newChildren.splitAt(inputs.length)
    copy(inputs = own, time = others.head, instant = others(1), id = others.drop(2).headOption)
  }
}

object PatternCall {

  /** An element per pattern that the row is an event of. */
  val Events: ArrayType = ArrayType(
    new StructType().add(Detections.Key, StringType, nullable = false)
      .add(Detections.Steps, LongType, nullable = false)
      .add(Detections.Id, StringType)
      .add(Detections.Value, StringType),
    containsNull = false)
}

/** When time ends in the rows of a query, not yet decided: [[PinPatterns]] asks only where a pattern has a deadline. */
final case class EndOfTime(child: Expression) extends UnaryExpression with Unevaluable {
  override def dataType: DataType = child.dataType
  override def nullable: Boolean = true
  override protected def withNewChildInternal(newChild: Expression): EndOfTime = copy(child = newChild)
}
