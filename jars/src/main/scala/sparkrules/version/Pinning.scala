package sparkrules.version

import scala.collection.mutable

import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeMap, Expression}
import org.apache.spark.sql.classic.SparkSession
import org.slf4j.LoggerFactory

import sparkrules.bind.{Bound, RuleCall}
import sparkrules.conf.{OnRejectedRule, RulesException, Settings}
import sparkrules.lists.{ListReference, PinnedLists}
import sparkrules.store.{Store, StoreAccess}

/** What a call means now: the rules, their inputs in terms of the call's, and the instant if it matters to them. */
final case class Pinned(rules: PinnedRules, inputs: Seq[Expression], instant: Option[Expression])

/** Ties calls to the version that is current now, compiled for their columns. */
object Pinning {
  private val log = LoggerFactory.getLogger("sparkrules.version.Pinning")

  /** @param isLocal whether the rows are part of the plan; see [[Local]] */
  def pin(session: SparkSession, call: RuleCall, isLocal: Boolean): Pinned = {
    val (rules, lists) = current(session, call, isLocal)
    requireNone(rules.key, rules.rejectedAt(call.now))
    val inputs = rules.parts.flatMap(part => inputsOf(part.bound, call, lists))
    Pinned(rules, inputs, if (rules.hasValidity) Some(call.instant) else None)
  }

  /** The rules that are rejected on the input of a call, whether that fails the query or not. */
  def rejected(session: SparkSession, call: RuleCall): Seq[RejectedRule] =
    current(session, call, isLocal = false)._1.rejectedAt(call.now)

  /** The rules that a call means now, bound to its columns. Removed rules are among them and keep their numbers. */
  def bound(session: SparkSession, call: RuleCall): Bound = {
    val store = StoreAccess.of(session)
    val key = ProgramKey.of(session, store, call, isLocal = false)
    val manifest = store.manifest(key.version)
    val spec = PartSpec(key.question.segments(manifest), omits = false, isAll = true)
    val (bound, rejected) = new PartCompiler(session, store, key, manifest.costs).bind(spec)
    requireNone(key, rejected.filter(_.isValid(call.now)))
    bound
  }

  /** The rules, and the lists that they ask for. */
  private def current(session: SparkSession, call: RuleCall, isLocal: Boolean): (PinnedRules, PinnedLists) = {
    val store = StoreAccess.of(session)
    val key = ProgramKey.of(session, store, call, isLocal)
    val lists = new PinnedLists(store, key.version.ruleSet)
    val rules = current(session, store, call, key)
    val missing = rules.parts.flatMap(_.bound.extras).collect {
      case ListReference(name) if lists.get(name).isEmpty => name
    }
    val fitting = if (missing.isEmpty) rules else current(session, store, call, key.copy(missingLists = missing.toSet))
    (fitting, lists)
  }

  private def current(session: SparkSession, store: Store, call: RuleCall, key: ProgramKey): PinnedRules = {
    val known = VersionCache.version(key)
    val manifest = known.fold(store.manifest(key.version))(_.manifest)
    val segments = key.question.segments(manifest)
    val specs =
      if (!key.selection.isNarrow) PartSpec.of(segments, key.partRules, key.exact)
      else Seq(PartSpec(segments, omits = true, isAll = true))
    val parts = compiled(session, store, key, manifest.costs, specs)
    known.map(_.rules).filter(_.parts.corresponds(parts)((a, b) => a eq b._2)).getOrElse {
      val removed = parts.map { case (spec, part) =>
        if (spec.omits) Array.empty[Int] else spec.removedRows(store, key.version.ruleSet, part.segmentSizes)
      }
      val isGeneral = key.question.isGeneral(manifest)
      val fields = new RuleFields(store, key.version.ruleSet, parts)
      val rules =
        PinnedRules(key, parts.map(_._2).toIndexedSeq, removed.toIndexedSeq, isGeneral, manifest.maxCalls, fields)
      if (key.invalidRules == OnRejectedRule.LeaveOut) warn(key, rules.rejectedAt(call.now))
      VersionCache.keep(manifest, rules)
      rules
    }
  }

  /** The parts, from the cache if possible, each with what it was made of. */
  private def compiled(
      session: SparkSession,
      store: Store,
      key: ProgramKey,
      costs: Map[String, Double],
      specs: Seq[PartSpec]): Seq[(PartSpec, VersionPart)] = {
    val compiler = new PartCompiler(session, store, key, costs)
    val needed = mutable.HashSet.empty[PartKey]
    def part(spec: PartSpec): VersionPart = {
      val partKey = PartKey(session.sparkContext.applicationId, key, costs, spec)
      needed += partKey
      VersionCache.part(partKey, _.functions.areCurrent(session))(compiler.compile(spec))
    }
    val parts = specs.map(spec => (spec, part(spec)))
    VersionCache.trim(Settings.CacheBytes.get(session.sessionState.conf), needed.toSet)
    parts
  }

  private def requireNone(key: ProgramKey, rejected: Seq[RejectedRule]): Unit =
    if (rejected.nonEmpty && key.invalidRules == OnRejectedRule.Fail) {
      throw new RulesException(new RejectionMessage(key, rejected).error)
    }

  private def warn(key: ProgramKey, rejected: Seq[RejectedRule]): Unit =
    if (rejected.nonEmpty) log.warn(new RejectionMessage(key, rejected).warning)

  private def inputsOf(bound: Bound, call: RuleCall, lists: PinnedLists): Seq[Expression] = {
    val called = AttributeMap(bound.row.zip(call.inputs))
    bound.columns.map(call.inputs) ++
      bound.extras.map {
        case ListReference(name) => lists.get(name).get
        case e => call.inBatch(e.transform { case a: Attribute => called.getOrElse(a, a) })
      }
  }
}
