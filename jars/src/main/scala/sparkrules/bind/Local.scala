package sparkrules.bind

import org.apache.spark.sql.catalyst.analysis.ResolvedInlineTable
import org.apache.spark.sql.catalyst.optimizer.ConvertToLocalRelation
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.internal.SQLConf

/**
 * Rows that are part of the plan: `VALUES (1, 'a'), (2, 'b')`. Spark evaluates a WHERE over them as it is written,
 * before the optimizer changes the meaning of some comparisons; see [[Rewriting]].
 */
object Local {
  def apply(plan: LogicalPlan): Boolean =
    holds(plan) && !SQLConf.get.optimizerExcludedRules.exists(_.contains(ConvertToLocalRelation.ruleName))

  private def holds(plan: LogicalPlan): Boolean = plan match {
    case relation: LocalRelation => !relation.isStreaming
    case _: Project | _: Filter | _: SubqueryAlias | _: View => plan.children.forall(holds)
    case _: ResolvedInlineTable => true // VALUES with the time of the query
    case _ => false
  }
}
