package sparkrules.plan

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenFallback
import org.apache.spark.sql.types.{DataType, StructType}

import sparkrules.answer.{Answer, AnswerRequest, Answers}
import sparkrules.bind.{Question, RuleCall}
import sparkrules.conf.Semantics
import sparkrules.label.Selection
import sparkrules.version.VersionMatcher

/**
 * What a call says beside its columns, all of it known where it is written. Each field is described in [[RuleCall]].
 *
 * @param names those of the call's columns
 * @param observe the name under which its matches are counted; see [[sparkrules.metrics.RuleActivity]]
 */
final case class CallSite(
    ruleSet: Option[String],
    names: Seq[Seq[String]],
    semantics: Semantics,
    exact: Boolean = false,
    top: Option[Int] = None,
    tags: Option[Set[String]] = None,
    status: String = Selection.Live,
    observe: Option[String] = None)

/**
 * A call as the user wrote it, resolved but not yet tied to a version of a rule set: [[PinVersions]] does that when a
 * query is planned, so that views, prepared DataFrames and streams take the newest version each time.
 *
 * @param inputs the columns that rules may use
 * @param answers one: the value itself; more: a struct of them
 * @param instant the query's instant, which a stream replaces by that of the micro-batch
 */
final case class MatchCall(
    site: CallSite,
    inputs: Seq[Expression],
    answers: Seq[Answer],
    instant: Expression = CurrentTimestamp())
    extends RuleCall {
  override def question: Question = Question.Match
  override def ruleSet: Option[String] = site.ruleSet
  override def names: Seq[Seq[String]] = site.names
  override def semantics: Semantics = site.semantics
  override def exact: Boolean = site.exact
  override def top: Option[Int] = site.top
  // The ranges of attributes are those of all rules, as are the statistics that are made of them.
  override def selection: Selection =
    if (site.exact) Selection(status = None) else Selection(Some(site.status), site.tags)
  override def children: Seq[Expression] = inputs :+ instant
  override def dataType: DataType = MatchCall.dataType(answers)
  override def nullable: Boolean = false
  override def prettyName: String = "match_subscriptions"
  override def sql: String = s"$prettyName(${arguments(inputs.map(_.sql))})"
  override def toString: String = s"$prettyName(${arguments(inputs.map(_.toString))})"
  private def arguments(texts: Seq[String]): String =
    (texts ++ top.map(n => s"top => $n") ++
      site.tags.map(tags => s"tags => array(${tags.toSeq.sorted.mkString(", ")})") ++
      site.observe.map(name => s"observe => ${Literal(name).sql}")).mkString(", ")
  override protected def withNewChildrenInternal(newChildren: IndexedSeq[Expression]): MatchCall =
    copy(inputs = newChildren.init, instant = newChildren.last)
}

object MatchCall {

  def dataType(answers: Seq[Answer]): DataType = answers match {
    case Seq(one) => one.dataType
    case many => many.foldLeft(new StructType())((struct, a) => struct.add(a.name, a.dataType, nullable = false))
  }

  /** A call for live and shadow rules, as expressions of calls that ask one of them; the call itself otherwise. */
  def split(call: MatchCall): Expression = {
    val shadow = call.site.copy(status = Selection.Shadow)
    call.answers match {
      case Seq(rows: Answer.Rows) if rows.hasShadow =>
        Concat(Seq(call.site, shadow).map { site =>
          val of = rows.of.map { case _: Answer.Status => Answer.Status(site.status); case other => other }
          call.copy(site = site, answers = Seq(rows.copy(of = of, hasShadow = false)))
        })
      case answers if answers.contains(Answer.ShadowIds) =>
        result(answers, answers.map {
          case Answer.ShadowIds => call.copy(site = shadow, answers = Seq(Answer.Ids))
          case other => call.copy(answers = Seq(other))
        })
      case _ => call
    }
  }

  /** The value of a call, made of the columns of [[Match]]. */
  def result(answers: Seq[Answer], columns: Seq[Expression]): Expression = answers match {
    case Seq(_) => columns.head
    case many =>
      CreateNamedStruct(many.zip(columns).flatMap { case (answer, column) => Seq(Literal(answer.name), column) })
  }
}

/** A call where there is no input to put an operator on, such as in a join condition over both sides. */
final case class PinnedCall(inputs: Seq[Expression], request: AnswerRequest, instant: Option[Expression])
    extends Expression
    with CodegenFallback {
  override def children: Seq[Expression] = inputs ++ instant
  override def dataType: DataType = MatchCall.dataType(request.answers)
  override def nullable: Boolean = false
  override def stateful: Boolean = true
  override def prettyName: String = "match_subscriptions"
  override protected def withNewChildrenInternal(newChildren: IndexedSeq[Expression]): PinnedCall =
    copy(inputs = newChildren.take(inputs.length), instant = newChildren.drop(inputs.length).headOption)

  @transient private lazy val matcher = new VersionMatcher(request.rules, inputs, RuleCall.micros(instant))
  @transient private lazy val results = new Answers(matcher, request, areCopied = false)

  override def eval(input: InternalRow): Any = {
    val row = results.ofRow(matcher.row(input))
    if (request.answers.length == 1) row.get(0, dataType) else row.copy()
  }
}
