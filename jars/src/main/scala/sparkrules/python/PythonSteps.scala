package sparkrules.python

import org.apache.spark.PartitionEvaluatorFactory
import org.apache.spark.rdd.RDD
import org.apache.spark.sparkrules.GuardedPython
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.optimizer.ReplaceExpressions
import org.apache.spark.sql.catalyst.plans.logical.{ArrowEvalPython, BatchEvalPython, LeafNode, LogicalPlan, Project}
import org.apache.spark.sql.execution.{LeafExecNode, SparkPlan}
import org.apache.spark.sql.execution.python.{ArrowEvalPythonExec, BatchEvalPythonExec, ExtractPythonUDFs}
import org.apache.spark.sql.types.DataType

/**
 * Calls a function for many rows of arguments, by the parts of Spark's own operators: what they do with types, time
 * zones, batches and workers is done here too.
 */
final class PythonSteps private (steps: Seq[PythonStep], val resultType: DataType) extends Serializable {

  /** A row with the result for each row of arguments, in their order. */
  def results(partition: Int, arguments: Iterator[InternalRow]): Iterator[InternalRow] =
    steps.foldLeft(arguments)((rows, step) => step.run(partition, rows))
}

object PythonSteps {

  /** On the driver, with the settings of the session. */
  def of(call: PythonCall): PythonSteps = of(call.planned)

  /** The same, for a function that returns what it raises: as [[GuardedPython]] says. */
  def guarded(call: PythonCall): Option[PythonSteps] = call.planned match {
    case function: PythonUDF => GuardedPython.of(function).map(of(_))
    case _ => None
  }

  private def of(planned: Expression): PythonSteps = {
    val arguments = planned.collect { case reference: BoundReference => reference }.sortBy(_.ordinal)
      .map(reference => AttributeReference(s"argument${reference.ordinal}", reference.dataType)())
    val function = planned.transform { case BoundReference(i, _, _) => arguments(i) }
    val plan = Project(Seq(Alias(function, "result")()), Arguments(arguments))
    new PythonSteps(steps(ExtractPythonUDFs(ReplaceExpressions(plan))), planned.dataType)
  }

  private def steps(plan: LogicalPlan): Seq[PythonStep] = plan match {
    case _: Arguments => Nil
    case Project(list, child) => steps(child) :+ new ProjectStep(list, child.output)
    case BatchEvalPython(functions, results, child) =>
      steps(child) :+ new FunctionStep(new RowByRow(functions, results, ArgumentsExec(child.output)).factory)
    case ArrowEvalPython(functions, results, child, kind) =>
      steps(child) :+ new FunctionStep(new ByArrow(functions, results, ArgumentsExec(child.output), kind).factory)
    case other => throw new IllegalStateException(s"Spark plans ${other.nodeName} for a Python function")
  }

  // Spark's operators make the evaluators, with arguments that differ from minor to minor.
  private final class RowByRow(functions: Seq[PythonUDF], results: Seq[Attribute], child: SparkPlan)
      extends BatchEvalPythonExec(functions, results, child) {
    def factory: PartitionEvaluatorFactory[InternalRow, InternalRow] = evaluatorFactory
  }

  private final class ByArrow(functions: Seq[PythonUDF], results: Seq[Attribute], child: SparkPlan, kind: Int)
      extends ArrowEvalPythonExec(functions, results, child, kind) {
    def factory: PartitionEvaluatorFactory[InternalRow, InternalRow] = evaluatorFactory
  }
}

private sealed trait PythonStep extends Serializable {
  def run(partition: Int, rows: Iterator[InternalRow]): Iterator[InternalRow]
}

private final class ProjectStep(list: Seq[Expression], input: Seq[Attribute]) extends PythonStep {
  override def run(partition: Int, rows: Iterator[InternalRow]): Iterator[InternalRow] = {
    val projection = UnsafeProjection.create(list, input)
    projection.initialize(partition)
    rows.map(projection)
  }
}

private final class FunctionStep(factory: PartitionEvaluatorFactory[InternalRow, InternalRow]) extends PythonStep {
  override def run(partition: Int, rows: Iterator[InternalRow]): Iterator[InternalRow] =
    factory.createEvaluator().eval(partition, rows)
}

/** Stands for rows of arguments, so that Spark plans a call of a function over them. */
private final case class Arguments(output: Seq[Attribute]) extends LeafNode

private final case class ArgumentsExec(output: Seq[Attribute]) extends LeafExecNode {
  override protected def doExecute(): RDD[InternalRow] = throw new UnsupportedOperationException("it is never run")
}
