package sparkrules.version

import org.apache.spark.sql.classic.SparkSession

import sparkrules.bind.{Analysis, BetweenOnChar, Binder, Bound, DeclaredCosts, RuleInput, Tuning}
import sparkrules.compile.Compiler
import sparkrules.conf.OnMissingColumn
import sparkrules.program.Validity
import sparkrules.store.{Segment, Store}

/** A segment bound to the columns of a call, ready to be compiled. */
final case class BoundSegment(segment: Segment, bound: Bound, compiler: Compiler) {
  def rejected: Seq[RejectedRule] = compiler.rejected.map { row =>
    val id = segment.rules.ids(row).toString
    RejectedRule(row, id, compiler.rejection(row), segment.rules.validFrom(row), Validity.end(segment, row))
  }
}

/**
 * Binds the rules of segments to the columns of a call. Spark alone decides which rules it accepts. If it rejects a
 * predicate by itself (a string as a condition, which AND casts), the binder asks it for the whole rule. If Spark
 * accepts that, it also evaluates the whole rule.
 *
 * @param costs what calls of functions cost, as users say
 */
final class SegmentBinder(session: SparkSession, store: Store, key: ProgramKey, costs: Map[String, Double]) {
  private val row = key.columns.map(_.attribute)
  private val analysis =
    new Analysis(session, key.semantics.over(session.sessionState.conf), RuleInput(row), key.isLocal)
  private val declared = new DeclaredCosts(costs, analysis)
  private val statistics = key.statistics.map(store.statistics(key.version.ruleSet, _))

  def apply(segment: Segment): BoundSegment = {
    val whole = if (key.columns.forall(_.charLength.isEmpty)) Nil else BetweenOnChar.rules(segment, analysis)
    bind(if (whole.isEmpty) segment else segment.withWholeTexts(whole))
  }

  private def bind(segment: Segment): BoundSegment = {
    val readsNull = key.missingColumns == OnMissingColumn.ReadNull
    val binder = new Binder(segment, row, analysis, readsNull, key.missingLists)
    val untuned = binder.bind(key.strict)
    val bound = Tuning(untuned, statistics, declared.of(segment, untuned), key.exact)
    val compiler = new Compiler(segment, bound, key.forRegions)
    // The whole of a rule lacks the columns that its predicates lack.
    val whole = binder.accepted(compiler.rejected.filter { s =>
      val rejection = compiler.rejection(s)
      rejection.missing.isEmpty && !rejection.isExcessive
    })
    if (whole.isEmpty) BoundSegment(segment, bound, compiler) else bind(segment.withWholeTexts(whole))
  }
}
