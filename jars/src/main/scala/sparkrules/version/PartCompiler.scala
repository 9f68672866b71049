package sparkrules.version

import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.unsafe.types.UTF8String

import sparkrules.bind.Bound
import sparkrules.compile.MergedForest
import sparkrules.overlap.Digests
import sparkrules.store.{Segment, SegmentEntry, SegmentMerge, Store}

/**
 * Reads the segments of a part from the store, binds them to the columns of a call, and compiles them.
 *
 * @param costs what calls of functions cost, as users say
 */
final class PartCompiler(session: SparkSession, store: Store, key: ProgramKey, costs: Map[String, Double]) {

  def compile(spec: PartSpec): VersionPart = {
    val segments = read(spec)
    val sizes = segments.map(_.rules.ids.length)
    val own =
      if (!spec.omits) Segment.concatenated(segments)
      else SegmentMerge(segments, spec.segments.zip(segments).map { case (entry, segment) => omitted(entry, segment) })
    val ready = new SegmentBinder(session, store, key, costs)(own)
    val (program, forest) = ready.compiler.compile(inBands = key.top.isDefined)
    val numbers = Array.fill(own.rules.ids.length)(-1)
    ready.compiler.order.indices.foreach(number => numbers(ready.compiler.order(number)) = number)
    new VersionPart(
      ready.bound.copy(slots = Array.empty, predicates = Array.empty),
      FunctionDefinitions.of(session, own.functions.toSeq),
      numbers,
      if (spec.omits) Nil else sizes,
      ready.rejected,
      program,
      if (key.forRegions) MergedForest.of(forest) else forest,
      if (spec.isAll) null else (ready.segment.forest.nodes.predicates, Digests.ofPredicates(ready.segment)),
      ready.compiler.questions(forest))
  }

  /** All rules, bound but not compiled, and the rejected ones. Removed rules are bound too and keep their numbers. */
  def bind(spec: PartSpec): (Bound, Seq[RejectedRule]) = {
    val segments = read(spec)
    val ready = new SegmentBinder(session, store, key, costs)(Segment.concatenated(segments))
    val removed = spec.removedRows(store, ruleSet, segments.map(_.rules.ids.length)).toSet
    (ready.bound, ready.rejected.filterNot(rule => removed(rule.row)))
  }

  /** The rows of a segment that are not compiled: removed rules, and those that nobody asks for. */
  private def omitted(entry: SegmentEntry, segment: Segment): Array[Int] = {
    val ids = segment.rules.ids
    val removed = store.removed(ruleSet, entry, ids.length)
    key.needed.fold(removed) { needed =>
      val wanted = needed.map(UTF8String.fromString)
      (removed ++ ids.indices.filterNot(row => wanted(ids(row)))).distinct.sorted
    }
  }

  private def ruleSet: String = key.version.ruleSet

  private def read(spec: PartSpec): Seq[Segment] = spec.segments.map(store.segment(ruleSet, _))
}
