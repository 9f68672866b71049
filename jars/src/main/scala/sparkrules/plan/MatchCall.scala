package sparkrules.plan

import java.io.ObjectOutputStream

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenFallback
import org.apache.spark.sql.types.{DataType, StructType}

import sparkrules.answer.{Answer, Answers}
import sparkrules.bind.RuleCall
import sparkrules.conf.Semantics
import sparkrules.version.PinnedRules

/**
 * A call as the user wrote it, resolved but not yet tied to a version of a rule set: [[PinVersions]] does that when a
 * query is planned, so that views, prepared DataFrames and streams take the newest version each time.
 *
 * @param ruleSet the name given in the call, if any
 * @param inputs the columns that rules may use, under `names`
 * @param answers one: the value itself; more: a struct of them
 * @param instant the query's instant, which a stream replaces by that of the micro-batch
 */
final case class MatchCall(
    ruleSet: Option[String],
    names: Seq[Seq[String]],
    inputs: Seq[Expression],
    answers: Seq[Answer],
    semantics: Semantics,
    instant: Expression = CurrentTimestamp(),
    exact: Boolean = false,
    top: Option[Int] = None)
    extends RuleCall {
  override def children: Seq[Expression] = inputs :+ instant
  override def dataType: DataType = MatchCall.dataType(answers)
  override def nullable: Boolean = false
  override def prettyName: String = "match_subscriptions"
  override def sql: String = s"$prettyName(${arguments(inputs.map(_.sql))})"
  override def toString: String = s"$prettyName(${arguments(inputs.map(_.toString))})"
  private def arguments(texts: Seq[String]): String = (texts ++ top.map(n => s"top => $n")).mkString(", ")
  override protected def withNewChildrenInternal(newChildren: IndexedSeq[Expression]): MatchCall =
    copy(inputs = newChildren.init, instant = newChildren.last)
}

object MatchCall {

  def dataType(answers: Seq[Answer]): DataType = answers match {
    case Seq(one) => one.dataType
    case many => many.foldLeft(new StructType())((struct, a) => struct.add(a.name, a.dataType, nullable = false))
  }

  /** The value of a call, made of the columns of [[Match]]. */
  def result(answers: Seq[Answer], columns: Seq[Expression]): Expression = answers match {
    case Seq(_) => columns.head
    case many =>
      CreateNamedStruct(many.zip(columns).flatMap { case (answer, column) => Seq(Literal(answer.name), column) })
  }
}

/** A call in a place where there is no input to put an operator on: a join condition over both sides, say. */
final case class PinnedCall(
    inputs: Seq[Expression], answers: Seq[Answer], rules: PinnedRules, instant: Option[Expression])
    extends Expression
    with CodegenFallback {
  override def children: Seq[Expression] = inputs ++ instant
  override def dataType: DataType = MatchCall.dataType(answers)
  override def nullable: Boolean = false
  override def stateful: Boolean = true
  override def prettyName: String = "match_subscriptions"
  override protected def withNewChildrenInternal(newChildren: IndexedSeq[Expression]): PinnedCall =
    copy(inputs = newChildren.take(inputs.length), instant = newChildren.drop(inputs.length).headOption)

  @transient private lazy val state = new Answers(rules, inputs, answers, RuleCall.micros(instant), areCopied = false)

  private def writeObject(out: ObjectOutputStream): Unit = {
    if (Answers.needOverlaps(answers)) rules.compareParts()
    out.defaultWriteObject()
  }

  override def eval(input: InternalRow): Any = {
    if (state.matcher.chunk > 0) state.matcher.startChunk(1, _ => input)
    state.run(input)
    val row = state.ofRow()
    if (answers.length == 1) row.get(0, dataType) else row.copy()
  }
}
