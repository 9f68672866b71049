package sparkrules.plan

import scala.collection.mutable

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate.Max
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.types.StringType
import org.slf4j.LoggerFactory

import sparkrules.answer.Answer
import sparkrules.bind.Local
import sparkrules.conf.{Listed, OnMissingColumn, OnRejectedRule, RulesException}
import sparkrules.pattern.{Pattern, PatternFile, PatternProcessor, Patterns, SortedRows}
import sparkrules.store.{StoreAccess, Version}
import sparkrules.version.{CurrentVersion, Pinned, PinnedRules, Pinning}

/**
 * Ties a detection to the version of its rule set that is current now: both the rules that make rows events, and the
 * patterns that are looked for in them.
 *
 * {{{
 *   MapGroups SortedRows()                          MapGroups SortedRows(3 patterns of alerts@5)
 *   +- Project [ts AS time, end_of_time(ts), ...]   +- Project [ts AS time, max(ts) of the rows, ...]
 *      +- Generate inline(detect_patterns(*))    ->    +- Generate inline(pattern_events(ids))
 *         +- Relation                                     +- Match [alerts@5, 10000 rules] [ids]
 *                                                            +- Relation
 * }}}
 *
 * @param matchOn puts [[Match]] on a plan
 */
private final class PinPatterns(
    session: SparkSession, matchOn: (LogicalPlan, MatchSpec, Pinned, Seq[Attribute]) => LogicalPlan) {
  import PinPatterns._

  def apply(plan: LogicalPlan): LogicalPlan = plan.transformUpWithSubqueries {
    case groups: MapGroups => (groups.func: AnyRef) match {
        case func: SortedRows =>
          val (events, patterns) = pinned(groups.child)
          val own: AnyRef = func.copy(patterns = patterns)
          groups.copy(func = own.asInstanceOf[(Any, Iterator[Any]) => IterableOnce[Any]], child = events)
        case _ => groups
      }
    case groups: TransformWithState => (groups.statefulProcessor: AnyRef) match {
        case processor: PatternProcessor =>
          val (events, patterns) = pinned(groups.child)
          val own: AnyRef = processor.copy(patterns = patterns)
          groups.copy(statefulProcessor = own.asInstanceOf[groups.statefulProcessor.type], child = events)
        case _ => groups
      }
  }

  /** The events of the patterns, and the patterns. */
  private def pinned(plan: LogicalPlan): (LogicalPlan, Patterns) = {
    val (call, rows) = plan.collectFirst {
      case Generate(Inline(call: PatternCall), _, _, _, _, rows) => (call, rows)
    }.get
    val (version, all) = current(call, rows.isStreaming)
    val needed = all.flatMap(_.steps.flatten.map(_.rule)).toSet
    val asked = call.copy(site = call.site.copy(ruleSet = Some(version.toString)), needed = Some(needed))
    val found = Pinning.pin(session, asked, Local(rows))
    val placed = new Placing(found.rules, rows)
    val patterns = all.flatMap(placed(_))
    val ids = Answer.Ids.attribute
    val matched = matchOn(rows, MatchSpec(found.rules, Per.Row, Seq(Answer.Ids)), found, Seq(ids))
    // Asks for rows with a match, so that others are dropped early, by the source if it can.
    val matching = Filter(GreaterThan(Size(ids, legacySizeOfNull = false), Literal(0)), matched)
    val id = call.id.fold[Expression](Literal(null, StringType))(PatternColumns.text(_, "the column of ids"))
    val events = PatternEvents(patterns, ids, call.time, id, placed.values)
    val hasDeadlines = !rows.isStreaming && patterns.exists(_.pattern.hasDeadlines)
    val pinned = plan.transformDown {
      case generate @ Generate(Inline(_: PatternCall), _, _, _, _, _) =>
        generate.copy(generator = Inline(events), child = matching)
      case project: Project => project.transformExpressions {
          case EndOfTime(time) if hasDeadlines => ScalarSubquery(latest(time, rows))
          case EndOfTime(time) => Literal(null, time.dataType)
        }
    }
    (pinned, Patterns(patterns.map(_.pattern)))
  }

  /** The greatest time of all rows. */
  private def latest(time: Expression, rows: LogicalPlan): LogicalPlan =
    Aggregate(Nil, Seq(Alias(Max(time).toAggregateExpression(), "until")()), rows)

  /** The version that the call means now, and its patterns. */
  private def current(call: PatternCall, isStreaming: Boolean): (Version, Seq[Pattern]) = {
    val store = StoreAccess.of(session)
    val version = CurrentVersion.of(session, store, call.ruleSet, "detect_patterns('alerts', TABLE(t), time => 'ts')")
    val patterns = PatternFile.read(store, store.manifest(version))
    if (patterns.isEmpty) {
      val message =
        s"$version has no patterns. Define some, as in RuleSet.sequence or RuleSet.count, and publish them."
      // A stream goes on: the next version may have some again.
      if (isStreaming) log.warn(message) else throw new RulesException(message)
    }
    (version, patterns)
  }

  /** Finds the columns that patterns name. */
  private final class Placing(rules: PinnedRules, rows: LogicalPlan) {
    private val places = mutable.LinkedHashMap.empty[Expression, (Int, Expression)]

    def values: Seq[Expression] = places.values.map(_._2).toSeq

    /** The pattern; none if it lacks a column, and such patterns are left out. */
    def apply(pattern: Pattern): Option[PlacedPattern] = {
      val missing = (pattern.by ++ pattern.distinct).filter(PatternColumns.resolved(rows, _).isEmpty)
      if (missing.nonEmpty) {
        val message = s"Pattern '${pattern.id}' of ${rules.key.version} names a column that the table lacks: " +
          s"${Listed(missing, Shown)}."
        val isFailure =
          rules.key.missingColumns == OnMissingColumn.Reject && rules.key.invalidRules == OnRejectedRule.Fail
        if (isFailure) throw new RulesException(s"$message The table has: ${Listed(rows.output.map(_.name), Shown)}.")
        log.warn(s"$message It is left out.")
        None
      } else {
        val counted = pattern.distinct.fold(-1)(place(pattern, _))
        Some(PlacedPattern(pattern, pattern.by.map(place(pattern, _)), counted))
      }
    }

    private def place(pattern: Pattern, name: String): Int = {
      val column = PatternColumns.resolved(rows, name).get match {
        case alias: Alias => alias.child
        case other => other
      }
      places.getOrElseUpdate(
        column.canonicalized,
        (places.size, PatternColumns.text(column, s"Column '$name' of pattern '${pattern.id}'")))._1
    }
  }
}

private object PinPatterns {
  private val log = LoggerFactory.getLogger("sparkrules.plan.PinPatterns")
  private val Shown = 20
}
