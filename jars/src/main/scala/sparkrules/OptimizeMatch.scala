package sparkrules

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LogicalPlan, Project}
import org.apache.spark.sql.catalyst.rules.Rule

/** Filters that do not look at the matches go below them: rows that are dropped anyway are not matched. */
object PushFilterThroughMatch extends Rule[LogicalPlan] with PredicateHelper {
  override def apply(plan: LogicalPlan): LogicalPlan = plan.transform {
    case filter @ Filter(condition, matched: Match) =>
      val (below, above) = splitConjunctivePredicates(condition)
        .partition(c => c.deterministic && c.references.subsetOf(matched.child.outputSet))
      if (below.isEmpty) filter
      else {
        val pushed = matched.copy(child = Filter(below.reduce(And), matched.child))
        above.reduceOption(And).fold[LogicalPlan](pushed)(Filter(_, pushed))
      }
  }
}

/** Answers that nobody reads are not computed; without any the operator goes. */
object PruneAnswers extends Rule[LogicalPlan] {
  override def apply(plan: LogicalPlan): LogicalPlan = plan.transform {
    case project @ Project(list, matched: Match) => project.copy(child = prune(matched, references(list)))
    case project @ Project(list, filter @ Filter(condition, matched: Match)) =>
      project.copy(child = filter.copy(child = prune(matched, references(list) ++ condition.references)))
  }

  private def references(list: Seq[Expression]): AttributeSet = AttributeSet.fromAttributeSets(list.map(_.references))

  private def prune(matched: Match, used: AttributeSet): LogicalPlan = {
    val kept = matched.answers.zip(matched.added).filter { case (_, attribute) => used.contains(attribute) }
    if (kept.length == matched.answers.length) matched
    else if (kept.isEmpty) matched.child
    else matched.copy(answers = kept.map(_._1), added = kept.map(_._2))
  }
}
