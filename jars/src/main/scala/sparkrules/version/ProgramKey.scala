package sparkrules.version

import org.apache.spark.sql.classic.SparkSession

import sparkrules.bind.{Column, Question, RuleCall}
import sparkrules.conf.{OnMissingColumn, OnRejectedRule, Semantics, Settings}
import sparkrules.label.Selection
import sparkrules.store.{Store, Version}

/**
 * Everything that decides what a compiled version is. Calls with equal keys share it.
 *
 * @param columns the columns that rules may use
 * @param missingColumns what to do with rules that use other columns. In a region these can have any value.
 * @param invalidRules whether a rejected rule fails the query
 * @param statistics the number of the rule set's statistics, if it has been analysed
 * @param exact as in [[RuleCall]]
 * @param top as in [[RuleCall]]
 * @param selection as in [[RuleCall]]
 * @param partRules how many rules a segment must have to be compiled by itself
 * @param isLocal whether the rows are part of the plan; see [[Local]]
 * @param missingLists the lists that rules ask for and that the rule set lacks. Rules that ask for them are rejected.
 */
final case class ProgramKey(
    version: Version,
    question: Question,
    columns: Seq[Column],
    semantics: Semantics,
    missingColumns: OnMissingColumn,
    invalidRules: OnRejectedRule,
    strict: Boolean,
    statistics: Option[Int],
    exact: Boolean,
    top: Option[Int],
    selection: Selection,
    partRules: Int,
    isLocal: Boolean,
    missingLists: Set[String] = Set.empty) {

  /** Whether the rules are asked about regions. */
  def forRegions: Boolean = question.isInstanceOf[Question.OfRegion]
}

object ProgramKey {

  /** @param isLocal whether the rows are part of the plan; see [[Local]] */
  def of(session: SparkSession, store: Store, call: RuleCall, isLocal: Boolean): ProgramKey = {
    val conf = session.sessionState.conf
    val version = CurrentVersion.of(session, store, call.ruleSet, s"${call.question.function}('alerts', *)")
    val key = ProgramKey(
      version,
      call.question,
      call.columns,
      call.semantics.optimizedBy(conf),
      Settings.MissingColumns.get(conf),
      Settings.InvalidRules.get(conf),
      Settings.Strict.get(conf),
      store.newestStatistics(version.ruleSet),
      call.exact,
      call.top,
      call.selection,
      Settings.PartRules.get(conf).min(Int.MaxValue.toLong).toInt,
      isLocal)
    // These make no difference to the answers for a region.
    if (key.forRegions) key.copy(missingColumns = OnMissingColumn.Reject, strict = false, statistics = None) else key
  }
}
