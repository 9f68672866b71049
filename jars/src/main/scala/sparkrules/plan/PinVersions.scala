package sparkrules.plan

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.{Generate, LogicalPlan, Project}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.classic.SparkSession

import sparkrules.answer.{Answer, AnswerRequest}
import sparkrules.bind.Local
import sparkrules.kernel.CallResult
import sparkrules.lists.ListContent
import sparkrules.program.Questions
import sparkrules.python.PythonCall
import sparkrules.region.{PinnedRegion, RegionCall}
import sparkrules.version.{Pinned, PinnedRules, Pinning}

/**
 * Ties every call to the version of its rule set that is current now, and puts an operator under it:
 *
 * {{{
 *   Project [match_subscriptions(a, b) AS m]     Project [named_struct(ids, ids#1, overlaps, overlaps#2) AS m]
 *   +- Relation [a, b, c]                     -> +- Match [alerts@3, 10000 rules] [ids#1, overlaps#2]
 *                                                   +- Relation [a, b, c]
 * }}}
 *
 * It runs as a plan normalisation: after analysis, so that DataFrames, views and streams are not frozen to a version,
 * and before Spark looks for cached results, so that a result of an old version never answers a query of a new one.
 */
final case class PinVersions(session: SparkSession) extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan = pinMatches(pinRegions(pinPatterns(plan)))

  private val pinPatterns = new PinPatterns(
    session, (child, spec, pinned, columns) => matchOn(child, spec, pinned.inputs, pinned.instant, columns))

  private def pinRegions(plan: LogicalPlan): LogicalPlan = plan.transformUpWithSubqueries {
    case operator if operator.expressions.exists(_.exists(_.isInstanceOf[RegionCall])) =>
      operator.transformExpressions { case call: RegionCall => PinnedRegion.of(session, call) }
  }

  private def pinMatches(plan: LogicalPlan): LogicalPlan = plan.transformUpWithSubqueries {
    case Generate(Inline(call: MatchCall), unused, false, _, columns, child) if PinVersions.isOneTable(call) =>
      val Pinned(rules, inputs, instant) = Pinning.pin(session, call, Local(child))
      val kept = child.output.zipWithIndex.collect { case (attribute, i) if !unused.contains(i) => attribute }
      val answers = call.answers.collect { case rows: Answer.Rows => rows.of }.flatten
      val spec = MatchSpec(rules, Per.Match, answers, observe = call.site.observe)
      Project(kept ++ columns, matchOn(child, spec, inputs, instant, columns))
    case operator if operator.expressions.exists(_.exists(_.isInstanceOf[MatchCall])) => pin(operator)
  }

  private def pin(whole: LogicalPlan): LogicalPlan = {
    val operator = whole.transformExpressions { case call: MatchCall => MatchCall.split(call) }
    val calls = operator.expressions.flatMap(_.collect { case call: MatchCall => call })
    // Calls that differ only in what they ask of the same match share one operator.
    val groups = calls.groupBy(_.copy(answers = Nil).canonicalized).values.map(_.distinctBy(_.answers)).toSeq
    val pinned = groups.foldLeft(operator)(pinAlike)
    if (pinned.output == operator.output) pinned else Project(operator.output, pinned)
  }

  private def pinAlike(operator: LogicalPlan, calls: Seq[MatchCall]): LogicalPlan = {
    val call = calls.head
    val place = operator.children.indexWhere(child => call.references.subsetOf(child.outputSet))
    val Pinned(rules, inputs, instant) = Pinning.pin(session, call, place >= 0 && Local(operator.children(place)))
    place match {
      case -1 => replace(operator, calls)(answers => PinnedCall(inputs, AnswerRequest(rules, answers), instant))
      case i =>
        val answers = calls.flatMap(_.answers).distinct
        val columns = answers.map(_.attribute)
        val spec = MatchSpec(rules, Per.Row, answers, observe = call.site.observe)
        val matched = matchOn(operator.children(i), spec, inputs, instant, columns)
        val widened = operator.withNewChildren(operator.children.updated(i, matched))
        replace(widened, calls)(wanted => MatchCall.result(wanted, wanted.map(a => columns(answers.indexOf(a)))))
    }
  }

  private def matchOn(
      child: LogicalPlan,
      spec: MatchSpec,
      inputs: Seq[Expression],
      instant: Option[Expression],
      columns: Seq[Attribute]): Match = {
    val (calls, arguments, answered) = called(spec.rules, inputs)
    val (ready, own, read) = computed(answered, child)
    Match(spec.copy(read = read, calls = calls), own, arguments, instant, None, columns, ready)
  }

  /** The calls of Python functions among the inputs, their arguments, and the inputs with the results of the calls. */
  private def called(
      rules: PinnedRules, inputs: Seq[Expression]): (Seq[PythonCall], Seq[Expression], Seq[Expression]) = {
    val uses = rules.parts.flatMap(part => (0 until part.inputs).map(part.uses))
    val found = inputs.indices.filter(inputs(_).isInstanceOf[PythonUDF]).groupBy(inputs(_).canonicalized).toSeq.map {
      case (canonical, places) =>
        (canonical, inputs(places.head), places.map(uses(_)._2).sum, places.map(uses(_)._1).max, places.head)
    }.sortBy { case (_, _, count, cost, place) => (Questions.rank(cost, count), place) }
    val (calls, arguments) = PythonCall.of(found.map { case (_, call, count, cost, _) => (call, count, cost) })
    val results = found.map(_._1).zipWithIndex.toMap
    val answered = inputs.map { input =>
      results.get(input.canonicalized).fold(input)(i => CallResult(i, input.dataType, calls(i).text))
    }
    (calls, arguments, answered)
  }

  /**
   * Inputs that are not simple reads become columns below, where Spark gives them what they need. Gives the plan with
   * these columns, the inputs over it, and the places of those that are read.
   */
  private def computed(all: Seq[Expression], child: LogicalPlan): (LogicalPlan, Seq[Expression], Set[Int]) = {
    val inputs = all.map(_.transformUp { case GetStructField(made: CreateNamedStruct, i, _) => made.valExprs(i) })
    val read = inputs.indices.filter(i => PinVersions.isRead(inputs(i))).toSet
    // Parts of a version may need the same.
    val aliases = inputs.filterNot(PinVersions.isReady).distinctBy(_.canonicalized).map(Alias(_, "rule_input")())
    if (aliases.isEmpty) (child, inputs, read)
    else {
      val attributes = aliases.map(alias => alias.child.canonicalized -> alias.toAttribute).toMap
      (Project(child.output ++ aliases, child), inputs.map(e => attributes.getOrElse(e.canonicalized, e)), read)
    }
  }

  private def replace(operator: LogicalPlan, calls: Seq[MatchCall])(by: Seq[Answer] => Expression): LogicalPlan = {
    val wanted = calls.head.copy(answers = Nil).canonicalized
    operator.transformExpressions {
      case call: MatchCall if call.copy(answers = Nil).canonicalized == wanted => by(call.answers)
    }
  }
}

object PinVersions {

  /** Whether the call is a table of matches that one operator makes. */
  private def isOneTable(call: MatchCall): Boolean = call.answers match {
    case Seq(rows: Answer.Rows) => !rows.hasShadow
    case _ => false
  }

  private def isReady(e: Expression): Boolean = isRead(e) || e.isInstanceOf[ListContent]

  private def isRead(e: Expression): Boolean = e match {
    case _: Attribute | _: CallResult => true
    case GetStructField(child, _, _) => isRead(child)
    case _ => false
  }
}
