package sparkrules.plan

import scala.collection.immutable.ListMap

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LogicalPlan, Project}
import org.apache.spark.sql.execution._
import org.apache.spark.sql.execution.metric.{SQLMetric, SQLMetrics}

import sparkrules.answer.AnswerRequest
import sparkrules.bind.RuleCall

object MatchStrategy extends SparkStrategy {
  override def apply(plan: LogicalPlan): Seq[SparkPlan] = plan match {
    case Project(list, matched: Match) => planned(matched, list) :: Nil
    case Project(list, Filter(condition, matched: Match)) =>
      val used = AttributeSet.fromAttributeSets(condition.references +: list.map(_.references))
      val below = planned(matched, matched.output.filter(used.contains))
      ProjectExec(list, FilterExec(condition, below)) :: Nil
    case matched: Match => planned(matched, matched.output) :: Nil
    case _ => Nil
  }

  private def planned(matched: Match, list: Seq[NamedExpression]): SparkPlan =
    MatchExec(
      matched.spec, matched.inputs, matched.instant, matched.scanFilter, matched.added, list, planLater(matched.child))
}

/** Executes [[Match]] and the projection on top of it, so that only what is asked for is written, and only once. */
final case class MatchExec(
    spec: MatchSpec,
    inputs: Seq[Expression],
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
    "leftOut" -> SQLMetrics.createMetric(sparkContext, "number of rules left out"))

  /** Names the rule set, as a scan names its table: the graph of the Spark UI shows nothing else beside the metrics. */
  override def nodeName: String = s"Match ${rules.key.version}"

  override def output: Seq[Attribute] = projection.map(_.toAttribute)
  override def producedAttributes: AttributeSet = AttributeSet(added)
  override protected def outputExpressions: Seq[NamedExpression] = projection
  override protected def orderingExpressions: Seq[SortOrder] = if (spec.per == Per.Rule) Nil else child.outputOrdering
  override def simpleString(maxFields: Int): String = spec.describe(added)
  override def verboseStringWithOperatorId(): String =
    s"$formattedNodeName\nRules: $rules\nInput: ${inputs.mkString("[", ", ", "]")}\n" +
      spec.scan.fold("")(note => s"Scan: $note\n") +
      s"Output: ${projection.mkString("[", ", ", "]")}\n"

  override protected def doExecute(): RDD[InternalRow] = {
    metrics("leftOut").set(rules.rejectedAt(System.currentTimeMillis * 1000).length.toLong)
    val execution = sparkContext.getLocalProperty(SQLExecution.EXECUTION_ID_KEY)
    SQLMetrics.postDriverMetricUpdates(sparkContext, execution, Seq(metrics("leftOut")))
    val work = new MatchWork(
      AnswerRequest(rules, spec.answers),
      spec.per,
      BindReferences.bindReferences(inputs, child.output),
      RuleCall.micros(instant),
      MatchOutput(projection, spec.available(child.output, added)),
      metrics)
    if (child.supportsColumnar) child.executeColumnar().mapPartitionsWithIndex(new MatchBatches(work, child.output.length))
    else child.execute().mapPartitionsWithIndex(new MatchRows(work))
  }

  override protected def withNewChildInternal(newChild: SparkPlan): MatchExec = copy(child = newChild)
}
