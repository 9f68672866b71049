package sparkrules.region

import java.util.LinkedHashMap

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.types.Metadata

import sparkrules.bind.{Bound, Column}
import sparkrules.compile.Compiler
import sparkrules.conf.OnMissingColumn
import sparkrules.guard.Rejection
import sparkrules.program.{Forest, Ids, Validity}
import sparkrules.store.{Segment, Store}
import sparkrules.value.{ExpressionBytes, IntLists}
import sparkrules.version.{ProgramKey, Programs, RejectedRule}

/** Rule sets bound to columns that describe regions; those used last are kept on the driver. */
object RegionPrograms {
  private val Kept = 8
  private val known = new LinkedHashMap[(String, Registered, ProgramKey, Seq[RegionShape]), RegionRules](16, 0.75f, true)

  /** The call, tied to the version that is current now. */
  def pin(session: SparkSession, call: RegionCall): PinnedRegion = {
    val store = Programs.storeOf(session)
    val description = Programs.describe(session, store, call).copy(
      row = call.names.indices.map(i => columnOf(call.names(i), call.shapes(i), call.inputs(i))),
      missingColumns = OnMissingColumn.Reject, // a column that is not there may be anything
      strict = false,
      statistics = None)
    val key = (session.sparkContext.applicationId, call.registered, description, call.shapes)
    val rules = known.synchronized(Option(known.get(key))).filter(isCurrent(session, _)).getOrElse {
      val made = compile(session, store, call.registered, description, call.shapes)
      known.synchronized {
        Option(known.put(key, made)).foreach(_.free())
        if (known.size > Kept) known.remove(known.keySet.iterator.next()).free()
      }
      made
    }
    Programs.refuse(description, call, rules.rejected, call.registered.noun)
    PinnedRegion(rules.columns.map(call.inputs), rules, if (rules.hasValidity) Some(call.instant) else None)
  }

  /** The column that rules use where the call has a region of its values; only a plain value keeps its metadata. */
  private def columnOf(names: Seq[String], shape: RegionShape, input: Expression): Column = {
    val metadata = if (shape.dataType == input.dataType) Column.metadataOf(input) else Metadata.empty
    Column(names, shape.dataType, nullable = true, metadata)
  }

  /** Drops what has been compiled of a rule set. */
  def forget(store: String, ruleSet: String): Unit = known.synchronized {
    known.keySet.asScala.toSeq
      .filter { case (_, _, description, _) => description.version.store == store && description.version.ruleSet == ruleSet }
      .foreach(known.remove(_).free())
  }

  private def isCurrent(session: SparkSession, rules: RegionRules): Boolean =
    rules.functions.map(_._2) == Programs.builders(session, rules.functions.map(_._1))

  private def compile(
      session: SparkSession,
      store: Store,
      registered: Registered,
      description: ProgramKey,
      shapes: Seq[RegionShape]): RegionRules = {
    val entries = registered.segments(store.manifest(description.version))
    val segments = entries.map(s => store.segment(description.version.ruleSet, s))
    val starts = segments.scanLeft(0)(_ + _.rules.size)
    val own = Segment.concatenated(segments)
    val (bound, segment, _) = Programs.bind(session, store, own, description)
    val removed = Programs.rowsRemoved(store, description, entries, starts.init, starts.last).toSet
    val live = segment.rules.ids.indices.filterNot(removed)
    // A test of a column that is not there could be true; one that Spark does not accept cannot be asked.
    val rejections = rejectionsOf(segment, bound)
    val (valid, invalid) = live.partition(s => rejections(segment.rules.nodes(s)) == null)
    val order = Compiler.ordered(segment, valid)
    val leaves = segment.forest.nodes.predicates.map(p => if (p < 0) None else bound.predicates(p).toOption)
    val forest = new Forest(
      Compiler.kinds(segment),
      leaves.map(_.fold(-1)(_.slot)),
      IntLists(leaves.map(_.fold(Array.empty[Int])(_.intervals)).toSeq),
      segment.forest.nodes.children,
      order.map(segment.rules.nodes(_)))
    new RegionRules(
      registered,
      description,
      bound.columns,
      own.functions.toSeq.zip(Programs.builders(session, own.functions.toSeq)),
      invalid.map { s =>
        RejectedRule(
          s, segment.rules.ids(s).toString, rejections(segment.rules.nodes(s)), segment.rules.validFrom(s),
          Validity.end(segment, s))
      },
      new RegionProgram(
        bound.columns.map(shapes).toArray,
        ExpressionBytes.of(bound.slots.map(_.expression)),
        bound.slots.map(_.base),
        bound.slots.map(_.keys),
        RegionForest.of(forest, bound.slots),
        Ids(order.map(segment.rules.ids(_))),
        Validity.of(segment, order)))
  }

  /** Per node: why Spark does not accept a test of it, or null. */
  private def rejectionsOf(segment: Segment, bound: Bound): Array[Rejection] = {
    val rejections = new Array[Rejection](segment.forest.nodes.size)
    rejections.indices.foreach { node =>
      val predicate = segment.forest.nodes.predicates(node)
      rejections(node) =
        if (predicate >= 0) bound.predicates(predicate).left.toOption.filter(_.missing.isEmpty).orNull
        else segment.forest.nodes.children(node).iterator.map(rejections(_)).find(_ != null).orNull
    }
    rejections
  }
}
