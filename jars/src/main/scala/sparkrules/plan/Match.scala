package sparkrules.plan

import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeSet, Expression, Literal}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, UnaryNode}
import org.apache.spark.sql.catalyst.util.GenericArrayData

import sparkrules.answer.Answer
import sparkrules.python.PythonCall
import sparkrules.version.PinnedRules

/** What there is a row for in the output of [[Match]]. */
sealed abstract class Per extends Product with Serializable

object Per {

  /** Each row of the input. */
  case object Row extends Per

  /** Each match: a row of the input and a rule. */
  case object Match extends Per

  /** Each rule that matches anything in a partition of the input, with the number of its matches. */
  case object Rule extends Per
}

/**
 * What is matched, and what is to be said of it.
 *
 * @param answers the columns that are added to those of the input; none per rule
 * @param read the inputs of [[Match]] that are columns or fields of the query's rows, by their places: the others are
 *   computed for the rules only
 * @param scan what is said of the scan filter in EXPLAIN, once it is decided
 * @param calls the calls of Python functions that rules may need, the first to be made first
 * @param skipsUnmatched whether rows without a match are left out: the query drops them
 * @param observe the name under which matches are counted, if the call asks for it
 */
final case class MatchSpec(
    rules: PinnedRules,
    per: Per,
    answers: Seq[Answer],
    read: Set[Int] = Set.empty,
    scan: Option[String] = None,
    calls: Seq[PythonCall] = Nil,
    skipsUnmatched: Boolean = false,
    observe: Option[String] = None) {

  /** What a query can read, given the columns of the input and those that are added. */
  def available(input: Seq[Attribute], added: Seq[Attribute]): Seq[Attribute] =
    if (per == Per.Rule) added else input ++ added

  def describe(added: Seq[Attribute]): String =
    s"Match [$rules] ${added.mkString("[", ", ", "]")}${scan.fold("")(", " + _)}" +
      asks.fold("")(", " + _)

  /** What is asked of Python, and in which order. */
  def asks: Option[String] = Option.when(calls.nonEmpty) {
    val texts = calls.map(call => s"${call.text} for ${rules.key.question.counted(call.rules)}")
    s"asks Python where a rule needs it: ${texts.take(MatchSpec.MostCalls).mkString(", then ")}" +
      (if (texts.length > MatchSpec.MostCalls) s" and ${texts.length - MatchSpec.MostCalls} more" else "")
  }
}

object MatchSpec {
  private val MostCalls = 20
}

/**
 * What rules say of the rows of `child`. Expressions are not part of `spec`, as Catalyst rewrites only those that are
 * arguments of an operator.
 *
 * @param inputs the inputs of the rules' program, over the columns of `child`
 * @param arguments what Python functions are called with, over the columns of `child`
 * @param instant the query's, if it decides which rules can match: else plans of a version would never be the same
 * @param scanFilter a condition over the columns of `child` that every row with a match fulfils, where all other rows
 *   are dropped; see [[PushScanFilter]]
 * @param added the attributes of the answers
 */
final case class Match(
    spec: MatchSpec,
    inputs: Seq[Expression],
    arguments: Seq[Expression],
    instant: Option[Expression],
    scanFilter: Option[Expression],
    added: Seq[Attribute],
    child: LogicalPlan)
    extends UnaryNode {
  override def output: Seq[Attribute] = spec.available(child.output, added)
  override def producedAttributes: AttributeSet = AttributeSet(added)

  /** Whether a condition is never true for a row without matches. */
  def dropsUnmatched(condition: Expression): Boolean = {
    val empty = added.zip(spec.answers).collect {
      case (attribute, Answer.Ids | Answer.Overlaps | _: Answer.Rows) =>
        attribute.exprId -> Literal(new GenericArrayData(Array.empty[Any]), attribute.dataType)
    }.toMap
    NeverTrue(condition.transform { case a: Attribute if empty.contains(a.exprId) => empty(a.exprId) })
  }

  override def maxRows: Option[Long] = if (spec.per == Per.Row) child.maxRows else None
  override def simpleString(maxFields: Int): String = spec.describe(added)
  override protected def withNewChildInternal(newChild: LogicalPlan): Match = copy(child = newChild)
}
