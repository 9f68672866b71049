package sparkrules

import java.util.{LinkedHashMap, Map => JMap}

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.classic.SparkSession

/** Compiled rule sets, kept on the driver: the most recently used ones, one for each [[Description]]. */
object Programs {
  private val Kept = 32

  private final class Entry {
    private var made: Option[(PinnedRules, Bound)] = None

    /** What was made before, unless a function that the rules call has been replaced in the session since. */
    def get(functions: Seq[String] => Seq[Any])(make: => (PinnedRules, Bound)): (PinnedRules, Bound) = synchronized {
      if (!made.exists { case (rules, _) => rules.functions.map(_._2) == functions(rules.functions.map(_._1)) }) {
        made = Some(make)
      }
      made.get
    }
  }

  private val entries = new LinkedHashMap[Description, Entry](16, 0.75f, true) {
    override def removeEldestEntry(eldest: JMap.Entry[Description, Entry]): Boolean = size > Kept
  }

  /** The rules that a call means now, and the program's inputs in terms of the call's. */
  def pin(session: SparkSession, call: MatchCall): (PinnedRules, Seq[Expression]) = {
    val store = storeOf(session)
    val description = describe(session, store, call)
    val entry = entries.synchronized(entries.computeIfAbsent(description, _ => new Entry))
    val (rules, bound) = entry.get(builders(session, _))(compile(session, store, description))
    val columns = bound.columns.map(call.inputs)
    val called = AttributeMap(bound.row.zip(call.inputs))
    val extras = bound.extras.map(e => call.inBatch(e.transform { case a: Attribute => called.getOrElse(a, a) }))
    (rules, columns ++ extras)
  }

  /** The rules that a call means now, bound to its columns. */
  def bound(session: SparkSession, call: MatchCall): Bound = {
    val store = storeOf(session)
    val description = describe(session, store, call)
    bind(session, store, store.load(description.version), description)._1
  }

  /** Drops what has been compiled of a rule set. */
  def forget(store: String, ruleSet: String): Unit = entries.synchronized {
    entries.keySet.removeIf(made => made.version.store == store && made.version.ruleSet == ruleSet)
  }

  private[sparkrules] def storeOf(session: SparkSession): Store =
    new Store(Settings.Store.get(session.sessionState.conf), session.sessionState.newHadoopConf())

  private def describe(session: SparkSession, store: Store, call: MatchCall): Description = {
    val conf = session.sessionState.conf
    val name = call.ruleSet.getOrElse(Settings.RuleSet.get(conf))
    if (name.isEmpty) {
      throw new RulesException(
        "No rule set: name one in the call, match_subscriptions('alerts', *), or set " +
          s"${Settings.RuleSet.key} in the session.")
    }
    val version = store.resolve(name)
    Description(
      version,
      call.names.zip(call.inputs).map { case (names, e) => Column(names, e.dataType, e.nullable) },
      call.semantics,
      Settings.MissingColumns.get(conf),
      Settings.InvalidRules.get(conf),
      Settings.Strict.get(conf) == "true",
      store.newestStatistics(version.ruleSet),
      call.exact)
  }

  /** The session's definitions of functions: a function that is registered anew gets another builder. */
  private def builders(session: SparkSession, functions: Seq[String]): Seq[Any] = {
    val registry = session.sessionState.functionRegistry
    val registered = registry.listFunction().groupBy(_.funcName.toLowerCase)
    functions.map(name => registered.getOrElse(name, Nil).map(id => id -> registry.lookupFunctionBuilder(id)).toMap)
  }

  private def compile(session: SparkSession, store: Store, description: Description): (PinnedRules, Bound) = {
    val segment = store.load(description.version)
    val (bound, compiler) = bind(session, store, segment, description)
    val (program, forest) = compiler.compile()
    val functions = segment.functions.toSeq.zip(builders(session, segment.functions.toSeq))
    (new PinnedRules(description, functions, program, forest), bound.copy(slots = Array.empty, leaves = Array.empty))
  }

  private def bind(
      session: SparkSession, store: Store, segment: Segment, description: Description): (Bound, Compiler) = {
    val row = description.row.map { column =>
      AttributeReference(column.names.last, column.dataType, column.nullable)(qualifier = column.names.init)
    }
    val conf = description.semantics.over(session.sessionState.conf)
    val analysis = new Analysis(session, conf, RuleInput(row))
    val statistics = description.statistics.map(store.statistics(description.version.ruleSet, _))
    val (bound, compiler) = bind(segment, analysis, row, description, statistics)
    if (description.invalidRules == "error") refuse(description, compiler.problems)
    (bound, compiler)
  }

  /**
   * Only Spark decides which rules fit a table. Where a part of a rule does not by itself (a text as a condition, which
   * AND casts), Spark is asked for the whole, and evaluates the whole if it accepts it.
   */
  private def bind(
      segment: Segment,
      analysis: Analysis,
      row: Seq[AttributeReference],
      description: Description,
      statistics: Option[Statistics]): (Bound, Compiler) = {
    val binder = new Binder(segment, row, analysis, description.missingColumns == "null")
    val bound = Tuning(binder.bind(description.strict), statistics, description.exact)
    val compiler = new Compiler(segment, bound)
    val whole = binder.accepted(compiler.rejected)
    if (whole.isEmpty) (bound, compiler) else bind(segment.withWholeTexts(whole), analysis, row, description, statistics)
  }

  /** An error that lists the rules that do not fit the table, by what is wrong with them. */
  private def refuse(description: Description, problems: Iterator[(String, Problem)]): Unit =
    if (problems.hasNext) {
      val byReason = problems.toSeq.groupMap(_._2)(_._1).toSeq.sortBy(-_._2.length)
      val lines = byReason.take(10).map { case (problem, ids) =>
        val more = if (ids.length > 5) s" and ${ids.length - 5} more" else ""
        s"\n  ${ids.take(5).map(id => s"'$id'").mkString(", ")}$more: ${problem.reason}"
      }
      val rest = if (byReason.length > 10) s"\n  ... and ${byReason.length - 10} other reasons" else ""
      val count = byReason.map(_._2.length).sum match {
        case 1 => "1 rule"
        case many => s"$many rules"
      }
      val columns = description.row.map(_.names.last).mkString(", ")
      val asNull = s"set ${Settings.MissingColumns.key}=null to read missing columns as NULL, "
      val remedies =
        (if (byReason.exists(_._1.missing.nonEmpty)) asNull else "") +
          s"set ${Settings.InvalidRules.key}=skip to leave such rules out, or change the rules."
      throw new RulesException(
        s"$count of ${description.version} cannot be used on the input ($columns):" +
          lines.mkString + rest + s"\n${remedies.capitalize}")
    }
}
