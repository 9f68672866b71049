package sparkrules.plan

import org.apache.spark.sql.catalyst.expressions.{Expression, IsNotNull, PredicateHelper}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.{ColumnarRule, ColumnarToRowExec, FilterExec, SparkPlan}

/**
 * Reads a scan that gives batches of columns as such: no rows are assembled. A filter in between that is there only for
 * the source has done its work: the rows that it would drop have no match.
 */
object ReadColumns extends ColumnarRule {
  override def postColumnarTransitions: Rule[SparkPlan] = ReadColumnsRule
}

private object ReadColumnsRule extends Rule[SparkPlan] with PredicateHelper {
  override def apply(plan: SparkPlan): SparkPlan = plan.transformUp {
    case matched: MatchExec if matched.spec.calls.isEmpty => matched.child match {
        case rows: ColumnarToRowExec if KnownColumns.areFrom(rows.child) => matched.copy(child = rows.child)
        case FilterExec(condition, rows: ColumnarToRowExec)
            if KnownColumns.areFrom(rows.child) && isImplied(condition, matched) =>
          matched.copy(child = rows.child)
        case _ => matched
      }
  }

  /** Whether the scan filter implies a condition. */
  private def isImplied(condition: Expression, matched: MatchExec): Boolean = matched.scanFilter.exists { filter =>
    val parts = splitConjunctivePredicates(filter)
    splitConjunctivePredicates(condition).forall {
      case part if parts.exists(_.semanticEquals(part)) => true
      // Spark derives it from a comparison.
      case IsNotNull(value) => NeverTrue.ifNull(filter, value)
      case _ => false
    }
  }
}
