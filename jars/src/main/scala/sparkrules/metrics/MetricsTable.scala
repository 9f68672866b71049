package sparkrules.metrics

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{AttributeReference, Expression, Literal}
import org.apache.spark.sql.catalyst.plans.logical.{LocalRelation, LogicalPlan}
import org.apache.spark.sql.catalyst.util.GenericArrayData
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

import sparkrules.conf.{RulesException, Settings}

/** `subscription_metrics()`: the reports of all runs that are remembered, of rule sets that the session may use. */
object MetricsTable {
  private val Counts = new StructType()
    .add("subscription_id", StringType, nullable = false)
    .add("hits", LongType, nullable = false)
    .add("errors", LongType, nullable = false)
    .add("time_share", DoubleType, nullable = false)

  private val Columns = Seq(
    ("run", LongType, false), ("observe", StringType, true), ("ruleset", StringType, false),
    ("version", LongType, false), ("execution", LongType, true), ("query", StringType, true), ("batch", LongType, true),
    ("started", TimestampType, false), ("rows", LongType, false), ("matches", LongType, false),
    ("errors", LongType, false), ("milliseconds", DoubleType, false), ("rules", LongType, false),
    ("rules_hit", LongType, false), ("counts", ArrayType(Counts, containsNull = false), false))

  def of(arguments: Seq[Expression]): LogicalPlan = {
    val name = arguments match {
      case Nil => None
      case Seq(Literal(text: UTF8String, _: StringType)) => Some(text.toString)
      case _ =>
        throw new RulesException(
          "subscription_metrics takes a name that calls give with observe => 'name', and nothing else: SELECT * FROM " +
            "subscription_metrics('name'), or subscription_metrics() for all queries.")
    }
    val session = SparkSession.active
    val allowed = Settings.AllowedRuleSets.only(session)
    val rows = for {
      activity <- RuleActivity.known(session.sparkContext).toSeq
      run <- activity.runs
      if allowed(run.version.ruleSet) && name.forall(run.observe.contains)
      report <- run.report
    } yield row(run, report)
    LocalRelation(Columns.map { case (name, kind, isNullable) => AttributeReference(name, kind, isNullable)() }, rows)
  }

  private def row(run: MatchRun, report: RuleReport): InternalRow = InternalRow(
    run.id, run.observe.map(UTF8String.fromString).orNull, UTF8String.fromString(run.version.ruleSet),
    run.version.number, run.execution.getOrElse(null), run.stream.map(s => UTF8String.fromString(s._1)).orNull,
    run.stream.map(_._2).getOrElse(null), run.started * 1000, report.rows, report.matches, report.errors,
    report.nanoseconds / 1e6, report.rules.toLong, report.rulesHit.toLong,
    new GenericArrayData(report.counts.map { count =>
      InternalRow(UTF8String.fromString(count.id), count.hits, count.errors, report.share(count))
    }.toArray[Any]))
}
