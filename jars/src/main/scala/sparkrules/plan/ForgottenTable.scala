package sparkrules.plan

import org.apache.spark.sql.catalyst.analysis.{UnresolvedAttribute, UnresolvedTableValuedFunction}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule

import sparkrules.conf.RulesException

/**
 * `FROM match_subscriptions(t)`, where `match_subscriptions(TABLE(t))` is meant: Spark takes `t` for a column and says
 * only that there is none. This rule runs after all names are resolved, so a column of a LATERAL join is not taken for
 * a table.
 */
object ForgottenTable extends Rule[LogicalPlan] {
  override def apply(plan: LogicalPlan): LogicalPlan = {
    plan.foreach {
      case call: UnresolvedTableValuedFunction if call.name.last.equalsIgnoreCase("match_subscriptions") =>
        call.functionArgs.collectFirst { case name: UnresolvedAttribute => name.sql }.foreach { table =>
          throw new RulesException(
            s"match_subscriptions in FROM takes a table, and $table is read as a column. Write TABLE($table): " +
              s"SELECT * FROM match_subscriptions(TABLE($table)), or match_subscriptions('alerts', TABLE($table)).")
        }
      case _ =>
    }
    plan
  }
}
