package sparkrules.plan

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate.{AggregateExpression, Complete, Count, Sum}
import org.apache.spark.sql.catalyst.plans.logical.{Aggregate, Filter, Generate, LogicalPlan, Project}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.types.LongType

import sparkrules.answer.Answer

/** Moves filters that do not read the matches below them: rows that are dropped anyway are not matched. */
object PushFilterThroughMatch extends Rule[LogicalPlan] with PredicateHelper {
  override def apply(plan: LogicalPlan): LogicalPlan = plan.transform {
    case filter @ Filter(condition, matched: Match) if matched.spec.per != Per.Rule =>
      val (below, above) = splitConjunctivePredicates(condition)
        .partition(c => c.deterministic && c.references.subsetOf(matched.child.outputSet))
      if (below.isEmpty) filter
      else {
        val pushed = matched.copy(child = Filter(below.reduce(And), matched.child))
        above.reduceOption(And).fold[LogicalPlan](pushed)(Filter(_, pushed))
      }
  }
}

/** Removes answers that nobody reads, and matching itself if nobody reads any and nobody counts the matches. */
object PruneAnswers extends Rule[LogicalPlan] {
  override def apply(plan: LogicalPlan): LogicalPlan = plan.transform {
    case project @ Project(list, matched: Match) => project.copy(child = prune(matched, references(list)))
    case project @ Project(list, filter @ Filter(condition, matched: Match)) =>
      project.copy(child = filter.copy(child = prune(matched, references(list) ++ condition.references)))
    case aggregate: Aggregate if aggregate.child.isInstanceOf[Match] =>
      aggregate.copy(child = prune(aggregate.child.asInstanceOf[Match], aggregate.references))
    case generate @ Generate(generator, _, _, _, _, matched: Match) =>
      below(generate, prune(matched, used(generate, generator.references)))
    case generate @ Generate(generator, _, _, _, _, filter @ Filter(condition, matched: Match)) =>
      below(generate, filter.copy(child = prune(matched, used(generate, generator.references ++ condition.references))))
  }

  private def used(generate: Generate, own: AttributeSet): AttributeSet =
    own ++ AttributeSet(generate.requiredChildOutput)

  /** A generator on another child. It names what nobody needs by its place among the child's columns. */
  private def below(generate: Generate, child: LogicalPlan): LogicalPlan =
    if (child.output == generate.child.output) generate
    else {
      val required = AttributeSet(generate.requiredChildOutput)
      val unrequired = child.output.zipWithIndex.collect { case (a, i) if !required.contains(a) => i }
      generate.copy(unrequiredChildIndex = unrequired, child = child)
    }

  private def references(list: Seq[Expression]): AttributeSet = AttributeSet.fromAttributeSets(list.map(_.references))

  private def prune(matched: Match, used: AttributeSet): LogicalPlan = {
    val kept = matched.spec.answers.zip(matched.added).filter { case (_, attribute) => used.contains(attribute) }
    if (kept.length == matched.spec.answers.length || matched.spec.per == Per.Rule) matched
    else if (kept.isEmpty && matched.spec.per == Per.Row && matched.spec.observe.isEmpty) matched.child
    else matched.copy(spec = matched.spec.copy(answers = kept.map(_._1)), added = kept.map(_._2))
  }
}

/**
 * `SELECT subscription_id, count(*) ... GROUP BY subscription_id`: each task counts in an array, one number per
 * rule, and only the numbers are grouped.
 */
object CountMatches extends Rule[LogicalPlan] {
  override def apply(plan: LogicalPlan): LogicalPlan = plan.transform {
    case aggregate @ Aggregate(Seq(key: Attribute), list, child, _) if list.forall(isCounted(key, _)) =>
      matchesOf(child, key).fold[LogicalPlan](aggregate) { matched =>
        val count = AttributeReference("count", LongType, nullable = false)()
        val counts = matched.copy(
          spec = matched.spec.copy(per = Per.Rule, answers = Nil), added = Seq(key, count))
        val summed = list.map(_.transform {
          case AggregateExpression(_: Count, mode, isDistinct, filter, _) =>
            AggregateExpression(Sum(count), mode, isDistinct, filter)
        }.asInstanceOf[NamedExpression])
        aggregate.copy(aggregateExpressions = summed, child = counts)
      }
  }

  private def isCounted(key: Attribute, e: NamedExpression): Boolean = e match {
    case a: Attribute => a.semanticEquals(key)
    case Alias(a: Attribute, _) => a.semanticEquals(key)
    case Alias(AggregateExpression(Count(arguments), Complete, false, None, _), _) =>
      arguments.forall(a => a.foldable && !a.nullable || a.semanticEquals(key))
    case _ => false
  }

  private def matchesOf(plan: LogicalPlan, key: Attribute): Option[Match] = plan match {
    case Project(list, child) if list.forall(_.isInstanceOf[Attribute]) => matchesOf(child, key)
    case matched: Match if matched.spec.per == Per.Match && matched.added.zip(matched.spec.answers).exists {
          case (attribute, answer) => attribute.semanticEquals(key) && answer == Answer.RuleId
        } => Some(matched)
    case _ => None
  }
}
