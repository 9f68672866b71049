package sparkrules.version

import java.util.LinkedHashMap

import scala.collection.mutable
import scala.jdk.CollectionConverters._

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.classic.SparkSession
import org.slf4j.LoggerFactory

import sparkrules.bind.{Analysis, Binder, Bound, Column, RuleCall, RuleInput, Tuning}
import sparkrules.compile.Compiler
import sparkrules.conf.{OnMissingColumn, OnRejectedRule, RulesException, Settings}
import sparkrules.overlap.Digests
import sparkrules.program.Validity
import sparkrules.store.{Manifest, Segment, SegmentEntry, SegmentMerge, Statistics, Store, StoreAccess, Version}

/** What a call means now: the rules, their inputs in terms of the call's, and the instant if it matters to them. */
final case class Pinned(rules: PinnedRules, inputs: Seq[Expression], instant: Option[Expression])

/** Compiled rule sets, kept on the driver: the parts that versions are made of, and the versions used last. */
object Programs {
  private val log = LoggerFactory.getLogger("sparkrules.Programs")
  private val cache = new PartCache

  // The versions used last, none of whose parts has been dropped.
  private val versions = new LinkedHashMap[ProgramKey, (Manifest, PinnedRules)](16, 0.75f, true)
  private val KeptVersions = 32

  /** How many compiled parts are kept. */
  def cachedParts: Int = cache.size

  /** @param isLocal whether the rows are part of the plan; see [[Local]] */
  def pin(session: SparkSession, call: RuleCall, isLocal: Boolean): Pinned = {
    val rules = current(session, call, isLocal)
    refuse(rules.description, call, rules.rejected)
    val inputs = rules.parts.flatMap(part => inputsOf(part.bound, call))
    Pinned(rules, inputs, if (rules.hasValidity) Some(call.instant) else None)
  }

  /** The rules that cannot be used on the input of a call, whether that is an error or they are left out. */
  def leftOut(session: SparkSession, call: RuleCall): Seq[RejectedRule] =
    valid(current(session, call, isLocal = false).rejected, nowOf(call))

  private def current(session: SparkSession, call: RuleCall, isLocal: Boolean): PinnedRules = {
    val store = storeOf(session)
    val description = describe(session, store, call).copy(isLocal = isLocal)
    val known = versions.synchronized(Option(versions.get(description)))
    val manifest = known.fold(store.manifest(description.version))(_._1)
    val keys = mutable.HashSet.empty[PartKey]
    def part(spec: PartSpec): VersionPart = {
      val key = PartKey(session.sparkContext.applicationId, description, spec)
      keys += key
      cache.get(key, isCurrent(session, _))(compile(session, store, description, spec))
    }
    val specs = PartSpec.of(manifest, description.partRules, description.exact)
    val parts = specs.map { spec =>
      val whole = part(spec)
      val isCalled = whole.callsPython && !spec.omits && spec.segments.exists(_.removed.isDefined)
      // A function that only removed rules call must not be called.
      if (isCalled) { val omitting = spec.copy(omits = true); (omitting, part(omitting)) } else (spec, whole)
    }
    drop(cache.trim(Settings.CacheBytes.get(session.sessionState.conf), keys.toSet))
    known.map(_._2).filter(_.parts.corresponds(parts)((a, b) => a eq b._2)).getOrElse {
      val removed = parts.map { case (spec, part) =>
        if (spec.omits) Array.empty[Int]
        else rowsRemoved(store, description, spec.segments, part.starts, part.numbers.length)
      }
      val numbers = parts.zip(removed).map { case ((_, part), rows) => rows.map(part.numbers(_)).filter(_ >= 0).distinct }
      val rejected = parts.zip(removed).flatMap { case ((_, part), rows) => without(part.rejected, rows) }
      if (description.invalidRules == OnRejectedRule.LeaveOut) warn(description, valid(rejected, nowOf(call)))
      keep(manifest, new PinnedRules(description, parts.map(_._2).toIndexedSeq, numbers.toArray, rejected))
    }
  }

  private def warn(description: ProgramKey, rejected: Seq[RejectedRule]): Unit = if (rejected.nonEmpty) {
    log.warn(
      s"${listed(description, rejected, "rule")}\nThey are left out: ${Settings.InvalidRules.key}=skip. SELECT " +
        s"inline(subscriptions_left_out('${description.version}', *)) FROM the table LIMIT 1 lists all of them.")
  }

  private[sparkrules] def valid(rejected: Seq[RejectedRule], now: Long): Seq[RejectedRule] =
    rejected.filter(rule => rule.validFrom <= now && now < rule.validUntil)

  private def nowOf(call: RuleCall): Long = call.instant match {
    case CurrentBatchTimestamp(millis, _, _) => millis * 1000
    case _ => System.currentTimeMillis * 1000
  }

  private def keep(manifest: Manifest, rules: PinnedRules): PinnedRules = versions.synchronized {
    versions.put(rules.description, (manifest, rules))
    if (versions.size > KeptVersions) drop(versions.keySet.iterator.next())
    rules
  }

  private def drop(description: ProgramKey): Unit = versions.remove(description)._2.free()

  /** Parts that are not kept any longer, and so the versions that they belong to. */
  private def drop(parts: Seq[VersionPart]): Unit = if (parts.nonEmpty) {
    versions.synchronized {
      versions.asScala.collect { case (d, (_, rules)) if rules.parts.exists(p => parts.exists(_ eq p)) => d }.toSeq.foreach(drop)
    }
    parts.foreach(_.free())
  }

  private def inputsOf(bound: Bound, call: RuleCall): Seq[Expression] = {
    val called = AttributeMap(bound.row.zip(call.inputs))
    bound.columns.map(call.inputs) ++
      bound.extras.map(e => call.inBatch(e.transform { case a: Attribute => called.getOrElse(a, a) }))
  }

  /** The rows that segments, one after the other from `starts` to `end`, no longer have. */
  private[sparkrules] def rowsRemoved(
      store: Store, description: ProgramKey, segments: Seq[SegmentEntry], starts: Seq[Int], end: Int): Array[Int] =
    segments.indices.toArray.flatMap { i =>
      val count = starts.lift(i + 1).getOrElse(end) - starts(i)
      removedOf(store, description, segments(i), count).map(_ + starts(i))
    }

  private def removedOf(store: Store, description: ProgramKey, segment: SegmentEntry, count: Int): Array[Int] =
    store.removed(description.version.ruleSet, segment, count)

  private def without(rules: Seq[RejectedRule], rows: Array[Int]): Seq[RejectedRule] = {
    val isRemoved = rows.toSet
    rules.filterNot(rule => isRemoved(rule.row))
  }

  /** The rules that a call means now, bound to its columns; those that are gone included, so that numbers stay. */
  def bound(session: SparkSession, call: RuleCall): Bound = {
    val store = storeOf(session)
    val description = describe(session, store, call)
    val entries = store.manifest(description.version).segments
    val segments = entries.map(s => store.segment(description.version.ruleSet, s))
    val starts = segments.scanLeft(0)(_ + _.rules.size)
    val all = Segment.concatenated(segments)
    val (bound, _, compiler) = bind(session, store, all, description)
    val removed = rowsRemoved(store, description, entries, starts.init, starts.last)
    refuse(description, call, without(rejectedBy(all, compiler), removed))
    bound
  }

  /** Drops what has been compiled of a rule set. */
  def forget(store: String, ruleSet: String): Unit =
    drop(cache.remove(key => key.store == store && key.ruleSet == ruleSet))

  private[sparkrules] def storeOf(session: SparkSession): Store = StoreAccess.of(session)

  /** The version that a call means now: of the rule set that it names, or of the session's; `example` names one. */
  private[sparkrules] def resolve(session: SparkSession, store: Store, named: Option[String], example: String): Version = {
    val name = named.getOrElse(Settings.RuleSet.get(session.sessionState.conf))
    if (name.isEmpty) {
      throw new RulesException(
        s"No rule set: name one in the call, $example, or set ${Settings.RuleSet.key} in the session.")
    }
    store.resolve(name)
  }

  private[sparkrules] def describe(session: SparkSession, store: Store, call: RuleCall): ProgramKey = {
    val conf = session.sessionState.conf
    val version = resolve(session, store, call.ruleSet, "match_subscriptions('alerts', *)")
    ProgramKey(
      version,
      call.names.zip(call.inputs).map { case (names, e) => Column.of(names, e) },
      call.semantics.optimizedBy(conf),
      Settings.MissingColumns.get(conf),
      Settings.InvalidRules.get(conf),
      Settings.Strict.get(conf),
      store.newestStatistics(version.ruleSet),
      call.exact,
      call.top,
      Settings.PartRules.get(conf).min(Int.MaxValue.toLong).toInt,
      isLocal = false)
  }

  /** The session's definitions of functions: a function that is registered anew gets another builder. */
  private[sparkrules] def builders(session: SparkSession, functions: Seq[String]): Seq[Any] = {
    val registry = session.sessionState.functionRegistry
    val registered = registry.listFunction().groupBy(_.funcName.toLowerCase)
    functions.map(name => registered.getOrElse(name, Nil).map(id => id -> registry.lookupFunctionBuilder(id)).toMap)
  }

  /** Whether no function that the part's rules call has been replaced in the session since it was compiled. */
  private def isCurrent(session: SparkSession, part: VersionPart): Boolean =
    part.functions.map(_._2) == builders(session, part.functions.map(_._1))

  private def compile(session: SparkSession, store: Store, description: ProgramKey, spec: PartSpec): VersionPart = {
    val segments = spec.segments.map(s => store.segment(description.version.ruleSet, s))
    val removed = spec.segments.zip(segments).map { case (entry, segment) =>
      if (spec.omits) removedOf(store, description, entry, segment.rules.size) else Array.empty[Int]
    }
    val own = if (spec.omits) SegmentMerge(segments, removed) else Segment.concatenated(segments)
    val (bound, bindable, compiler) = bind(session, store, own, description)
    val (program, forest) = compiler.compile(inBands = description.top.isDefined)
    val numbers = Array.fill(bindable.rules.size)(-1)
    compiler.order.indices.foreach(number => numbers(compiler.order(number)) = number)
    new VersionPart(
      bound.copy(slots = Array.empty, predicates = Array.empty),
      own.functions.toSeq.zip(builders(session, own.functions.toSeq)),
      numbers,
      if (spec.omits) Nil else segments.scanLeft(0)(_ + _.rules.size).init,
      rejectedBy(own, compiler),
      program,
      forest,
      if (spec.isAll) null else (bindable.forest.nodes.predicates, Digests.ofPredicates(bindable)))
  }

  private def rejectedBy(segment: Segment, compiler: Compiler): Seq[RejectedRule] = compiler.rejected.map { s =>
    RejectedRule(
      s, segment.rules.ids(s).toString, compiler.rejection(s), segment.rules.validFrom(s), Validity.end(segment, s))
  }

  private[sparkrules] def bind(
      session: SparkSession, store: Store, segment: Segment, description: ProgramKey): (Bound, Segment, Compiler) = {
    val row = description.row.map(_.attribute)
    val conf = description.semantics.over(session.sessionState.conf)
    val analysis = new Analysis(session, conf, RuleInput(row), description.isLocal)
    val statistics = description.statistics.map(store.statistics(description.version.ruleSet, _))
    val whole = betweenPadded(segment, description.row.filter(_.charLength.isDefined).map(_.names.last.toLowerCase))
    bind(if (whole.isEmpty) segment else segment.withWholeTexts(whole), analysis, row, description, statistics)
  }

  /** Rules to be left whole: `c BETWEEN 'a' AND 'b'` is made of two comparisons, but Spark pads these only by themselves. */
  private def betweenPadded(segment: Segment, padded: Seq[String]): Seq[Int] =
    if (padded.isEmpty) Nil
    else {
      segment.rules.texts.indices.filter { s =>
        val text = segment.rules.texts(s).toLowerCase
        text.contains("between") && padded.exists(text.contains(_))
      }
    }

  /**
   * Only Spark decides which rules fit a table. Where a part of a rule does not by itself (a text as a condition, which
   * AND casts), Spark is asked for the whole, and evaluates the whole if it accepts it.
   */
  private def bind(
      segment: Segment,
      analysis: Analysis,
      row: Seq[AttributeReference],
      description: ProgramKey,
      statistics: Option[Statistics]): (Bound, Segment, Compiler) = {
    val binder = new Binder(segment, row, analysis, description.missingColumns == OnMissingColumn.ReadNull)
    val bound = Tuning(binder.bind(description.strict), statistics, description.exact)
    val compiler = new Compiler(segment, bound)
    // The whole of a rule lacks the columns that its parts lack.
    val whole = binder.accepted(compiler.rejected.filter { s =>
      val rejection = compiler.rejection(s)
      rejection.missing.isEmpty && !rejection.isExcessive
    })
    if (whole.isEmpty) (bound, segment, compiler) else bind(segment.withWholeTexts(whole), analysis, row, description, statistics)
  }

  /** An error that lists the rules that do not fit the table, by what is wrong with them; not those that are hidden. */
  private[sparkrules] def refuse(description: ProgramKey, call: RuleCall, rejected: Seq[RejectedRule], noun: String = "rule"): Unit = {
    val rejections = if (description.invalidRules == OnRejectedRule.Fail) valid(rejected, nowOf(call)) else Nil
    if (rejections.nonEmpty) {
      val asNull = s"set ${Settings.MissingColumns.key}=null to read missing columns as NULL, "
      val remedies =
        (if (description.row.isEmpty) "give columns to the call, match_subscriptions('alerts', *), " else "") +
        (if (rejections.exists(_.rejection.missing.nonEmpty)) asNull else "") +
          s"set ${Settings.InvalidRules.key}=skip to leave such ${noun}s out, or change the ${noun}s."
      throw new RulesException(s"${listed(description, rejections, noun)}\n${remedies.capitalize}")
    }
  }

  /** Rules that do not fit the table, by what is wrong with them; the first of many. */
  private def listed(description: ProgramKey, rejected: Seq[RejectedRule], noun: String): String = {
    val byReason = rejected.groupMap(_.rejection)(_.id).toSeq.sortBy(-_._2.length)
    val lines = byReason.take(10).map { case (rejection, ids) =>
      val more = if (ids.length > 5) s" and ${ids.length - 5} more" else ""
      s"\n  ${ids.take(5).map(id => s"'$id'").mkString(", ")}$more: ${rejection.reason}"
    }
    val rest = if (byReason.length > 10) s"\n  ... and ${byReason.length - 10} other reasons" else ""
    val count = if (rejected.length == 1) s"1 $noun" else s"${rejected.length} ${noun}s"
    val columns = description.row.map(_.names.last).mkString(", ")
    s"$count of ${description.version} cannot be used on the input ($columns):${lines.mkString}$rest"
  }
}
