package sparkrules.plan

import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeSet, Expression}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, UnaryNode}

import sparkrules.answer.Answer
import sparkrules.version.PinnedRules

/** What there is a row for in the output of [[Match]]. */
sealed abstract class Per extends Product with Serializable

object Per {

  /** Each row of the input. */
  case object Row extends Per

  /** Each match: a row of the input and a subscription. */
  case object Match extends Per

  /** Each subscription that matches anything in a partition of the input, with the number of its matches. */
  case object Subscription extends Per
}

/**
 * What `rules` say of the rows of `child`.
 *
 * @param inputs the inputs of the rules' program, over the columns of `child`
 * @param answers the columns it adds to those of `child` (of which there are none per subscription), and `added` their
 *   attributes
 * @param instant the query's, if it decides which rules can match: else plans of a version would never be the same
 */
final case class Match(
    rules: PinnedRules,
    inputs: Seq[Expression],
    per: Per,
    answers: Seq[Answer],
    added: Seq[Attribute],
    instant: Option[Expression],
    child: LogicalPlan)
    extends UnaryNode {
  override def output: Seq[Attribute] = if (per == Per.Subscription) added else child.output ++ added
  override def producedAttributes: AttributeSet = AttributeSet(added)
  override def maxRows: Option[Long] = if (per == Per.Row) child.maxRows else None
  override def simpleString(maxFields: Int): String = s"Match [$rules] ${added.mkString("[", ", ", "]")}"
  override protected def withNewChildInternal(newChild: LogicalPlan): Match = copy(child = newChild)
}
