package sparkrules.version

import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.unsafe.types.UTF8String

import sparkrules.bind.Bound
import sparkrules.compile.MergedForest
import sparkrules.label.Selection
import sparkrules.overlap.Digests
import sparkrules.store.{RuleMarks, Segment, SegmentEntry, SegmentMerge, Store}

/**
 * Reads the segments of a part from the store, binds them to the columns of a call, and compiles them.
 *
 * @param costs what calls of functions cost, as users say
 */
final class PartCompiler(session: SparkSession, store: Store, key: ProgramKey, costs: Map[String, Double]) {

  def compile(spec: PartSpec): VersionPart = {
    val segments = read(spec)
    val sizes = segments.map(_.rules.ids.length)
    val marks = spec.segments.map(store.marks(ruleSet, _))
    val omitted = segments.indices.map(i => this.omitted(spec, spec.segments(i), segments(i), marks(i)))
    val own =
      if (!spec.omits && omitted.forall(_.isEmpty)) Segment.concatenated(segments) else SegmentMerge(segments, omitted)
    val kept = PartCompiler.others(omitted, sizes)
    val ready = new SegmentBinder(session, store, key, costs)(own)
    val (program, forest) = ready.compiler.compile(inBands = key.top.isDefined)
    val numbers = Array.fill(sizes.sum)(-1)
    ready.compiler.order.indices.foreach(number => numbers(kept(ready.compiler.order(number))) = number)
    new VersionPart(
      ready.bound.copy(slots = Array.empty, predicates = Array.empty),
      FunctionDefinitions.of(session, own.functions.toSeq),
      numbers,
      if (spec.omits) Nil else sizes,
      reported(ready.rejected.map(rule => rule.copy(row = kept(rule.row))), marks, sizes),
      program,
      if (key.forRegions) MergedForest.of(forest) else forest,
      if (spec.isAll) null else (ready.segment.forest.nodes.predicates, Digests.ofPredicates(ready.segment)),
      ready.compiler.questions(forest))
  }

  /** All rules, bound but not compiled, and the rejected ones. Removed rules are bound too and keep their numbers. */
  def bind(spec: PartSpec): (Bound, Seq[RejectedRule]) = {
    val segments = read(spec)
    val ready = new SegmentBinder(session, store, key, costs)(Segment.concatenated(segments))
    val sizes = segments.map(_.rules.ids.length)
    val removed = spec.removedRows(store, ruleSet, sizes).toSet
    val rejected = reported(ready.rejected, spec.segments.map(store.marks(ruleSet, _)), sizes)
    (ready.bound, rejected.filterNot(rule => removed(rule.row)))
  }

  /** The rows of a segment that are not compiled: those nobody asks for and, if the part omits them, removed ones. */
  private def omitted(spec: PartSpec, entry: SegmentEntry, segment: Segment, marks: RuleMarks): Array[Int] = {
    import key.selection
    val ids = segment.rules.ids
    val removed = if (spec.omits) store.removed(ruleSet, entry, ids.length) else Array.empty[Int]
    val needed = selection.needed.map(_.map(UTF8String.fromString))
    val tags = selection.tags.map(_.map(UTF8String.fromString))
    if (marks.isEmpty && selection.status.forall(_ == Selection.Live) && !selection.isNarrow) removed
    else {
      val unwanted = ids.indices.filterNot { row =>
        selection.status.forall(marks.status(row) == _) && tags.forall(marks.hasAny(row, _)) &&
        needed.forall(_(ids(row)))
      }
      (removed ++ unwanted).distinct.sorted
    }
  }

  /** The rejected rules that a query may fail on. A draft need not fit any table. */
  private def reported(rejected: Seq[RejectedRule], marks: Seq[RuleMarks], sizes: Seq[Int]): Seq[RejectedRule] =
    if (key.selection.status.isDefined) rejected
    else {
      val starts = sizes.scanLeft(0)(_ + _)
      rejected.filter { rule =>
        val i = starts.lastIndexWhere(_ <= rule.row)
        marks(i).status(rule.row - starts(i)) == Selection.Live
      }
    }

  private def ruleSet: String = key.version.ruleSet

  private def read(spec: PartSpec): Seq[Segment] = spec.segments.map(store.segment(ruleSet, _))
}

object PartCompiler {

  /** The rules that are not omitted, as rows of the segments one after the other. */
  private def others(omitted: Seq[Array[Int]], sizes: Seq[Int]): Array[Int] = {
    val starts = sizes.scanLeft(0)(_ + _)
    val gone = new java.util.BitSet
    omitted.indices.foreach(i => omitted(i).foreach(row => gone.set(starts(i) + row)))
    Array.range(0, starts.last).filterNot(gone.get)
  }
}
