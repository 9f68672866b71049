package sparkrules.plan

import scala.collection.immutable.ListMap

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LogicalPlan, Project}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution._
import org.apache.spark.sql.execution.metric.{SQLMetric, SQLMetrics}

import sparkrules.answer.{Answer, Answers}
import sparkrules.bind.RuleCall
import sparkrules.version.{PinnedRules, Programs}

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
      matched.rules, matched.inputs, matched.per, matched.answers, matched.added, list, matched.instant,
      planLater(matched.child))
}

/** Scans that give batches of columns are read as such: their rows are never put together. */
object ReadColumns extends ColumnarRule {
  override def postColumnarTransitions: Rule[SparkPlan] = ReadColumnsRule
}

private object ReadColumnsRule extends Rule[SparkPlan] {
  override def apply(plan: SparkPlan): SparkPlan = plan.transformUp {
    case matched @ MatchExec(_, _, _, _, _, _, _, ColumnarToRowExec(columns)) => matched.copy(child = columns)
  }
}

/** [[Match]], executed; with the projection on top of it, so that only what is asked for is written, and only once. */
final case class MatchExec(
    rules: PinnedRules,
    inputs: Seq[Expression],
    per: Per,
    answers: Seq[Answer],
    added: Seq[Attribute],
    projection: Seq[NamedExpression],
    instant: Option[Expression],
    child: SparkPlan)
    extends PartitioningPreservingUnaryExecNode
    with OrderPreservingUnaryExecNode {

  // In the order in which the Spark UI shows them.
  override lazy val metrics: Map[String, SQLMetric] = ListMap(
    "rows" -> SQLMetrics.createMetric(sparkContext, "number of rows matched"),
    "matches" -> SQLMetrics.createMetric(sparkContext, "number of matches"),
    "numOutputRows" -> SQLMetrics.createMetric(sparkContext, "number of output rows"),
    "matchTime" -> SQLMetrics.createNanoTimingMetric(sparkContext, "time to match rows"),
    "writeTime" -> SQLMetrics.createNanoTimingMetric(sparkContext, "time to write matches"),
    "setupTime" -> SQLMetrics.createNanoTimingMetric(sparkContext, "time to set up tasks"),
    "tests" -> SQLMetrics.createMetric(sparkContext, "number of conditions tested"),
    "candidates" -> SQLMetrics.createMetric(sparkContext, "number of conditions tested that were true"),
    "errors" -> SQLMetrics.createMetric(sparkContext, "number of values that rules could not compute"),
    "leftOut" -> SQLMetrics.createMetric(sparkContext, "number of rules left out"))

  /**
   * As for a scan, the name says of what: it is all that the Spark UI's picture of a query shows beside the metrics.
   */
  override def nodeName: String = s"Match ${rules.description.version}"

  override def output: Seq[Attribute] = projection.map(_.toAttribute)
  override def producedAttributes: AttributeSet = AttributeSet(added)
  override protected def outputExpressions: Seq[NamedExpression] = projection
  override protected def orderingExpressions: Seq[SortOrder] =
    if (per == Per.Subscription) Nil else child.outputOrdering
  override def simpleString(maxFields: Int): String = s"Match [$rules] ${added.mkString("[", ", ", "]")}"
  override def verboseStringWithOperatorId(): String =
    s"$formattedNodeName\nRules: $rules\nInput: ${inputs.mkString("[", ", ", "]")}\n" +
      s"Output: ${projection.mkString("[", ", ", "]")}\n"

  override protected def doExecute(): RDD[InternalRow] = {
    if (Answers.needOverlaps(answers)) rules.compareParts()
    metrics("leftOut").set(Programs.valid(rules.rejected, System.currentTimeMillis * 1000).length.toLong)
    val execution = sparkContext.getLocalProperty(SQLExecution.EXECUTION_ID_KEY)
    SQLMetrics.postDriverMetricUpdates(sparkContext, execution, Seq(metrics("leftOut")))
    val work = new MatchWork(
      rules,
      BindReferences.bindReferences(inputs, child.output),
      per,
      answers,
      RuleCall.micros(instant),
      projection,
      if (per == Per.Subscription) added else child.output ++ added,
      metrics)
    if (child.supportsColumnar) child.executeColumnar().mapPartitionsWithIndex(new MatchBatches(work))
    else child.execute().mapPartitionsWithIndex(new MatchRows(work))
  }

  override protected def withNewChildInternal(newChild: SparkPlan): MatchExec = copy(child = newChild)
}
