package sparkrules.version

import sparkrules.bind.Column
import sparkrules.conf.{OnMissingColumn, Semantics}
import sparkrules.store.{Manifest, SegmentEntry}

/**
 * The segments that are compiled together.
 *
 * @param omits whether what the version has removed of them is left out; else it is there, and hidden while rows are
 *   matched, so that removing a rule of a large segment compiles nothing
 * @param isAll whether a version has nothing but these
 */
final case class PartSpec(segments: Seq[SegmentEntry], omits: Boolean, isAll: Boolean)

object PartSpec {

  /**
   * A large segment is a part of its own, which versions to come will share. Small ones are one part together, and so are
   * those that are small beside all others: each part looks at every row. A small rule set is one part as a whole.
   *
   * @param large how many subscriptions a large segment has
   * @param exact as in [[MatchCall]]: ranges are those of all rules
   */
  def of(manifest: Manifest, large: Int, exact: Boolean): Seq[PartSpec] = {
    val all = manifest.segments.map(_.subscriptions.toLong).sum
    if (exact) Seq(PartSpec(manifest.segments, omits = false, isAll = true))
    else if (all < 2.5 * large) Seq(PartSpec(manifest.segments, omits = true, isAll = true))
    else {
      val (own, small) = manifest.segments.partition(s => s.subscriptions >= math.max(large.toLong, all / Beside))
      own.map(segment => PartSpec(Seq(segment), omits = false, isAll = false)) ++
        (if (small.isEmpty) None else Some(PartSpec(small, omits = true, isAll = false)))
    }
  }

  // Publishing keeps what is beside the largest segment smaller than that: so there are two parts at most.
  private val Beside = 10
}

/** What a compiled part is made of: equal keys, equal parts, as long as no function is registered anew. */
final case class PartKey(
    application: String,
    store: String,
    ruleSet: String,
    segments: Seq[(String, Option[String])],
    isAll: Boolean,
    row: Seq[Column],
    semantics: Semantics,
    missingColumns: OnMissingColumn,
    strict: Boolean,
    statistics: Option[Int],
    exact: Boolean,
    inBands: Boolean)

object PartKey {
  def apply(application: String, description: ProgramKey, spec: PartSpec): PartKey = PartKey(
    application,
    description.version.store,
    description.version.ruleSet,
    spec.segments.map(s => s.name -> (if (spec.omits) s.removed else None)),
    spec.isAll,
    description.row,
    description.semantics,
    description.missingColumns,
    description.strict,
    description.statistics,
    description.exact,
    description.top.isDefined)
}
