package sparkrules.plan

import scala.collection.immutable.ListMap

import org.apache.spark.rdd.RDD
import org.apache.spark.sparkrules.CallBudget
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LogicalPlan, Project}
import org.apache.spark.sql.execution._
import org.apache.spark.sql.execution.metric.{SQLMetric, SQLMetrics}

import sparkrules.answer.{Answer, AnswerRequest}
import sparkrules.bind.RuleCall
import sparkrules.conf.Settings
import sparkrules.guard.Metering
import sparkrules.metrics.RuleActivity
import sparkrules.python.{PythonSteps, PythonWork}

object MatchStrategy extends SparkStrategy with PredicateHelper {
  override def apply(plan: LogicalPlan): Seq[SparkPlan] = plan match {
    case Project(list, matched: Match) => planned(matched, list) :: Nil
    case Project(list, Filter(condition, matched: Match)) =>
      val used = AttributeSet.fromAttributeSets(condition.references +: list.map(_.references))
      ProjectExec(list, filtered(condition, matched, matched.output.filter(used.contains))) :: Nil
    case Filter(condition, matched: Match) => filtered(condition, matched, matched.output) :: Nil
    case matched: Match => planned(matched, matched.output) :: Nil
    case _ => Nil
  }

  private def filtered(condition: Expression, matched: Match, output: Seq[Attribute]): SparkPlan = {
    // Only by what WHERE looks at first: anything before it could fail.
    val skips = matched.spec.per == Per.Row && matched.dropsUnmatched(splitConjunctivePredicates(condition).head)
    val spec = matched.spec.copy(skipsUnmatched = skips)
    FilterExec(condition, planned(matched.copy(spec = spec), output))
  }

  private def planned(matched: Match, list: Seq[NamedExpression]): SparkPlan =
    MatchExec(
      matched.spec, matched.inputs, matched.arguments, matched.instant, matched.scanFilter, matched.added, list,
      planLater(matched.child))
}

/** Executes [[Match]] and the projection on top of it, so that only what is asked for is written, and only once. */
final case class MatchExec(
    spec: MatchSpec,
    inputs: Seq[Expression],
    arguments: Seq[Expression],
    instant: Option[Expression],
    scanFilter: Option[Expression],
    added: Seq[Attribute],
    projection: Seq[NamedExpression],
    child: SparkPlan)
    extends PartitioningPreservingUnaryExecNode
    with OrderPreservingUnaryExecNode {
  import spec.rules

  // In the order in which the Spark UI shows them.
  override lazy val metrics: Map[String, SQLMetric] = ListMap(
    "rows" -> SQLMetrics.createMetric(sparkContext, "number of rows matched"),
    "matches" -> SQLMetrics.createMetric(sparkContext, "number of matches"),
    "numOutputRows" -> SQLMetrics.createMetric(sparkContext, "number of output rows"),
    "matchTime" -> SQLMetrics.createNanoTimingMetric(sparkContext, "time to match rows"),
    "writeTime" -> SQLMetrics.createNanoTimingMetric(sparkContext, "time to write matches"),
    "setupTime" -> SQLMetrics.createNanoTimingMetric(sparkContext, "time to set up tasks"),
    "tested" -> SQLMetrics.createMetric(sparkContext, "number of predicates tested"),
    "passed" -> SQLMetrics.createMetric(sparkContext, "number of predicates tested that were true"),
    "errors" -> SQLMetrics.createMetric(sparkContext, "number of values that rules could not compute"),
    "leftOut" -> SQLMetrics.createMetric(sparkContext, "number of rules left out")) ++ pythonMetrics

  private def pythonMetrics: ListMap[String, SQLMetric] =
    if (spec.calls.isEmpty) ListMap.empty
    else ListMap(
      "calls" -> SQLMetrics.createMetric(sparkContext, "number of calls of Python functions"),
      "callsSaved" -> SQLMetrics.createMetric(sparkContext, "number of calls of Python functions saved"),
      "callsRefused" -> SQLMetrics.createMetric(sparkContext, "number of calls of Python functions beyond the limit"),
      "pythonTime" -> SQLMetrics.createNanoTimingMetric(sparkContext, "time in Python functions"))

  /** Names the rule set, as a scan names its table: the graph of the Spark UI shows nothing else beside the metrics. */
  override def nodeName: String = s"Match ${rules.key.version}"

  override def output: Seq[Attribute] = projection.map(_.toAttribute)
  override def producedAttributes: AttributeSet = AttributeSet(added)
  override protected def outputExpressions: Seq[NamedExpression] = projection
  override protected def orderingExpressions: Seq[SortOrder] = if (spec.per == Per.Rule) Nil else child.outputOrdering
  override def simpleString(maxFields: Int): String = spec.describe(added)
  override def verboseStringWithOperatorId(): String =
    s"$formattedNodeName\nRules: $rules\nInput: ${inputs.mkString("[", ", ", "]")}\n" +
      spec.scan.fold("")(note => s"Scan: $note\n") + spec.asks.fold("")(note => s"Python: $note\n") +
      s"Output: ${projection.mkString("[", ", ", "]")}\n"

  override protected def doExecute(): RDD[InternalRow] = {
    metrics("leftOut").set(rules.rejectedAt(System.currentTimeMillis * 1000).length.toLong)
    val execution = sparkContext.getLocalProperty(SQLExecution.EXECUTION_ID_KEY)
    SQLMetrics.postDriverMetricUpdates(sparkContext, execution, Seq(metrics("leftOut")))
    val micros = RuleCall.micros(instant)
    val work = new MatchWork(
      AnswerRequest(rules, spec.answers),
      spec.per,
      spec.skipsUnmatched,
      BindReferences.bindReferences(inputs, child.output),
      micros,
      MatchOutput(projection, spec.available(child.output, added)),
      pythonWork,
      metrics,
      counter(micros))
    if (child.supportsColumnar) {
      child.executeColumnar().mapPartitionsWithIndex(new MatchBatches(work, child.output.map(_.dataType).toArray))
    } else child.execute().mapPartitionsWithIndex(new MatchRows(work))
  }

  /** Where tasks count the matches of each rule, if that is wanted. */
  private def counter(micros: Option[Long]): Option[RuleActivity.Counter] = {
    val most = Settings.RuleMetrics.get(conf).min(MatchExec.MostReported).toInt
    Option.when(most > 0 || spec.observe.isDefined) {
      RuleActivity.of(sparkContext).counter(rules, spec.observe, most, micros)
    }
  }

  private def pythonWork: Option[PythonWork] = Option.when(spec.calls.nonEmpty) {
    new PythonWork(
      spec.calls,
      spec.calls.map(PythonSteps.of(_)),
      spec.calls.map(PythonSteps.guarded),
      BindReferences.bindReferences(arguments, child.output).map(Metering(_)),
      child.output.map(_.dataType).toArray,
      spec.answers.exists(MatchExec.NeedEverything),
      Settings.PythonBufferBytes.get(conf),
      Settings.PythonFailures.get(conf),
      rules.maxCalls.map(CallBudget.of(sparkContext, _)))
  }

  override protected def withNewChildInternal(newChild: SparkPlan): MatchExec = copy(child = newChild)
}

private object MatchExec {

  /** How many rules a query reports at most, whatever the setting says. */
  val MostReported = 10000L

  /** Answers that tell of every value, whether a rule needs it or not. */
  val NeedEverything: Answer => Boolean = Set(Answer.Ranges, Answer.Times)
}
