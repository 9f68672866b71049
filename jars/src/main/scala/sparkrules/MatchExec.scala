package sparkrules

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.plans.physical.Partitioning
import org.apache.spark.sql.execution.{SparkPlan, SparkStrategy, UnaryExecNode}
import org.apache.spark.sql.execution.metric.{SQLMetric, SQLMetrics}

object MatchStrategy extends SparkStrategy {
  override def apply(plan: LogicalPlan): Seq[SparkPlan] = plan match {
    case Match(rules, inputs, answers, added, child) => MatchExec(rules, inputs, answers, added, planLater(child)) :: Nil
    case _ => Nil
  }
}

/** [[Match]], executed row by row. */
final case class MatchExec(
    rules: PinnedRules,
    inputs: Seq[Expression],
    answers: Seq[Answer],
    added: Seq[Attribute],
    child: SparkPlan)
    extends UnaryExecNode {

  override lazy val metrics = Map(
    "numOutputRows" -> SQLMetrics.createMetric(sparkContext, "number of output rows"),
    "matches" -> SQLMetrics.createMetric(sparkContext, "number of matches"),
    "errors" -> SQLMetrics.createMetric(sparkContext, "number of values that rules could not compute"))

  override def output: Seq[Attribute] = child.output ++ added
  override def producedAttributes: AttributeSet = AttributeSet(added)
  override def outputOrdering: Seq[SortOrder] = child.outputOrdering
  override def outputPartitioning: Partitioning = child.outputPartitioning
  override def simpleString(maxFields: Int): String = s"Match [$rules] ${added.mkString("[", ", ", "]")}"
  override def verboseStringWithOperatorId(): String =
    s"$formattedNodeName\nRules: $rules\nInput: ${inputs.mkString("[", ", ", "]")}\nAdded: ${added.mkString("[", ", ", "]")}\n"

  override protected def doExecute(): RDD[InternalRow] = {
    val (rows, matches, errors) = (longMetric("numOutputRows"), longMetric("matches"), longMetric("errors"))
    val (pinned, wanted, before, after) = (rules, answers, child.output, output)
    val bound = BindReferences.bindReferences(inputs, before)
    child.execute().mapPartitionsWithIndex(new MatchPartition(pinned, bound, wanted, after, rows, matches, errors))
  }

  override protected def withNewChildInternal(newChild: SparkPlan): MatchExec = copy(child = newChild)
}

/**
 * The work of a task. A class and not a closure: to clean a closure Spark reads the class file around it, which is gone
 * once a Thrift server has closed the class loader of `--jars`.
 */
private final class MatchPartition(
    rules: PinnedRules,
    inputs: Seq[Expression],
    answers: Seq[Answer],
    output: Seq[Attribute],
    rows: SQLMetric,
    matches: SQLMetric,
    errors: SQLMetric)
    extends ((Int, Iterator[InternalRow]) => Iterator[InternalRow])
    with Serializable {

  override def apply(partition: Int, input: Iterator[InternalRow]): Iterator[InternalRow] = {
    val results = new Answers(rules, inputs, answers)
    val matcher = results.matcher
    val joined = new JoinedRow
    val projection = UnsafeProjection.create(output, output)
    projection.initialize(partition)
    input.map { row =>
      val failed = matcher.errors
      val result = results.of(row)
      rows += 1
      matches += matcher.count
      errors += matcher.errors - failed
      projection(joined(row, result))
    }
  }
}
