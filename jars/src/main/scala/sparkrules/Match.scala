package sparkrules

import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeSet, Expression}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, UnaryNode}

/**
 * Adds to each row of `child` what `rules` say of it.
 *
 * @param inputs the inputs of the rules' program, over the columns of `child`
 * @param answers the columns it adds, and `added` their attributes
 */
final case class Match(
    rules: PinnedRules,
    inputs: Seq[Expression],
    answers: Seq[Answer],
    added: Seq[Attribute],
    child: LogicalPlan)
    extends UnaryNode {
  override def output: Seq[Attribute] = child.output ++ added
  override def producedAttributes: AttributeSet = AttributeSet(added)
  override def maxRows: Option[Long] = child.maxRows
  override def simpleString(maxFields: Int): String = s"Match [$rules] ${added.mkString("[", ", ", "]")}"
  override protected def withNewChildInternal(newChild: LogicalPlan): Match = copy(child = newChild)
}
