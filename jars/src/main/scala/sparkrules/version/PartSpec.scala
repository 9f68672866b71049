package sparkrules.version

import sparkrules.bind.Column
import sparkrules.conf.{OnMissingColumn, Semantics}
import sparkrules.label.Selection
import sparkrules.store.{SegmentEntry, Store}

/**
 * The segments that are compiled together.
 *
 * @param omits whether the part is compiled without the rules that the version has removed. Otherwise it has them, and
 *   they are hidden while rows are matched: removing a rule of a large segment compiles nothing.
 * @param isAll whether the version has no other part
 */
final case class PartSpec(segments: Seq[SegmentEntry], omits: Boolean, isAll: Boolean) {

  /** The removed rules, as rows of the segments one after the other. `sizes` has the number of rules per segment. */
  def removedRows(store: Store, ruleSet: String, sizes: Seq[Int]): Array[Int] = {
    val starts = sizes.scanLeft(0)(_ + _)
    segments.indices.toArray.flatMap(i => store.removed(ruleSet, segments(i), sizes(i)).map(_ + starts(i)))
  }
}

object PartSpec {

  /**
   * The parts of a version. A large segment is a part of its own, which later versions share. The small segments are
   * one part together, because each part looks at every row. A small rule set is one part as a whole.
   *
   * @param large how many rules a large segment has
   * @param exact as in [[RuleCall]]: the ranges are those of all rules, so that all rules are one part
   */
  def of(segments: Seq[SegmentEntry], large: Int, exact: Boolean): Seq[PartSpec] = {
    val all = segments.map(_.subscriptions.toLong).sum
    if (exact) Seq(PartSpec(segments, omits = false, isAll = true))
    else if (all < 2.5 * large) Seq(PartSpec(segments, omits = true, isAll = true))
    else {
      val (own, small) = segments.partition(s => s.subscriptions >= math.max(large.toLong, all / OwnPartShare))
      own.map(segment => PartSpec(Seq(segment), omits = false, isAll = false)) ++
        (if (small.isEmpty) None else Some(PartSpec(small, omits = true, isAll = false)))
    }
  }

  // See "Sizes of segments" in docs/store-format.md.
  private val OwnPartShare = 10
}

/** What a compiled part is made of: equal keys, equal parts, as long as no function is registered anew. */
final case class PartKey(
    application: String,
    store: String,
    ruleSet: String,
    segments: Seq[(String, Option[String])],
    isAll: Boolean,
    forRegions: Boolean,
    columns: Seq[Column],
    semantics: Semantics,
    missingColumns: OnMissingColumn,
    missingLists: Set[String],
    strict: Boolean,
    statistics: Option[Int],
    costs: Map[String, Double],
    exact: Boolean,
    inBands: Boolean,
    selection: Selection)

object PartKey {
  def apply(application: String, key: ProgramKey, costs: Map[String, Double], spec: PartSpec): PartKey = PartKey(
    application,
    key.version.store,
    key.version.ruleSet,
    spec.segments.map(s => s.name -> (if (spec.omits) s.removed else None)),
    spec.isAll,
    key.forRegions,
    key.columns,
    key.semantics,
    key.missingColumns,
    key.missingLists,
    key.strict,
    key.statistics,
    if (key.forRegions) Map.empty else costs,
    key.exact,
    key.top.isDefined,
    key.selection)
}
