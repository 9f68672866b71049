package sparkrules.plan

import org.apache.spark.sql.catalyst.FunctionIdentifier
import org.apache.spark.sql.catalyst.expressions.{Left => _, Right => _, _}
import org.apache.spark.sql.catalyst.plans.logical.{Generate, LogicalPlan}
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.{StringType, StructType}
import org.apache.spark.unsafe.types.UTF8String

import sparkrules.answer.{Answer, BoundPredicates, LeftOutTable}
import sparkrules.bind.Question
import sparkrules.catalog.Overlaps
import sparkrules.conf.{RulesException, Semantics}
import sparkrules.label.{KnownTags, RuleField, Selection}
import sparkrules.metrics.MetricsTable
import sparkrules.region.{RegionAnswer, RegionCall, RegionShape}
import sparkrules.store.{Store, StoreAccess, Version}
import sparkrules.value.{Address, CidrContains}
import sparkrules.version.{CurrentVersion, Pinning}

/** The functions of the plugin, in one table. */
object Functions {
  type Scalar = (FunctionIdentifier, ExpressionInfo, Seq[Expression] => Expression)
  type Table = (FunctionIdentifier, ExpressionInfo, Seq[Expression] => LogicalPlan)

  val scalars: Seq[Scalar] = Seq(
    scalar(
      "match_subscriptions",
      "_FUNC_(['set',] * [, top => n] [, fields => array('f')] [, tags => array('t')] [, shadow => true]) - The ids " +
        "of all rules that are true for the row, highest priority first, or of the first n of them, and their " +
        "overlap sets: the groups of them that share a true subexpression. With fields, also `matches`, the ids " +
        "with these fields of the rules' metadata, and the version; with tags, only of rules that have one of them; " +
        "with shadow, also the ids of shadow rules.",
      ofRow(_, _)),
    scalar(
      "subscription_matches",
      "_FUNC_(['set',] * [, top => n] [, fields => array('f')] [, tags => array('t')] [, shadow => true]) - An array " +
        "with an element per matching rule, or for the first n of them: subscription_id, priority and overlap, the " +
        "others that share a true subexpression with it. With fields, also these and the version; with shadow, also " +
        "shadow rules, and the status. For `inline`.",
      ofMatches(_, _)),
    scalar(
      "subscription_errors",
      "_FUNC_(['set',] *) - An array with an element per predicate that cannot be computed for the row, and per rule " +
        "that has it: subscription_id and message. Such a predicate is unknown for the row. For `inline`.",
      Seq(Answer.Errors)),
    scalar(
      "subscription_costs",
      "_FUNC_(['set',] *) - An array with an element per value that Spark had to compute for the row, such as a " +
        "regular expression or a function: test, as SQL, nanoseconds, and subscription_ids, at most five of the " +
        "rules that need it. For `inline`.",
      Seq(Answer.Costs)),
    scalar(
      "subscription_times",
      "_FUNC_(['set',] *) - An array with an element per attribute of the rules that is not a column: attribute, as " +
        "SQL, and nanoseconds, how long it takes to compute it for the row, whether a rule needs it or not. For " +
        "`inline`.",
      Seq(Answer.Times)),
    scalar(
      "subscription_ranges",
      "_FUNC_(['set',] *) - An array with an element per attribute of the rules: attribute, as SQL, and the range of " +
        "its value, by position and bounds, among the ranges that the rules' constants make. For `inline`.",
      Seq(Answer.Ranges)),
    scalar(
      "subscription_tests",
      "_FUNC_(['set',] *) - An array with an element per predicate of the rules, the same for every row: its number, " +
        "its attribute and how that is searched, the positions of subscription_ranges, from first to last, where it " +
        "is true, and the share of rows there, if the rules have been analysed. For `inline` on one row.",
      call => BoundPredicates.of(Pinning.bound(SparkSession.active, call))),
    scalar(
      "subscriptions_left_out",
      "_FUNC_(['set',] *) - An array with an element per rule that is rejected on the input, the same for every row: " +
        "subscription_id and reason. spark.sparkrules.invalidRules=skip skips these. For `inline` on one row.",
      call => LeftOutTable.of(Pinning.rejected(SparkSession.active, call))),
    (
      FunctionIdentifier("cidr_contains"),
      info(
        "cidr_contains",
        "_FUNC_(network, address) - Whether the address, IPv4 or IPv6, lies in the network, such as '10.0.0.0/8' or " +
          "'2001:db8::/32'. A string that is no address lies in no network.",
        classOf[CidrContains]),
      cidrContains),
    region(Question.RulesOfRegion, RegionAnswer.All, "The ids of all rules that could match some row of a region"),
    region(
      Question.AdvertisementsOfRegion,
      RegionAnswer.All,
      "The ids of all advertisements whose sources could send a row of a region"),
    region(Question.RulesOfRegion, RegionAnswer.First, "Whether any rule could match some row of a region"),
    region(
      Question.AdvertisementsOfRegion,
      RegionAnswer.First,
      "Whether there is any advertisement whose source could send a row of a region"))

  val tables: Seq[Table] = Seq(
    (
      FunctionIdentifier("match_subscriptions"),
      info(
        "match_subscriptions",
        "_FUNC_(['set',] TABLE(t) [, top => n] [, fields => array('f')] [, tags => array('t')] [, shadow => true]) " +
          "- The rows of t with subscription_id, priority and overlap, one row per match, or for the first n matches " +
          "of each row of t. With fields, also these and the version; with shadow, also shadow rules, and the status."),
      matchTable),
    (
      FunctionIdentifier("subscription_metrics"),
      info(
        "subscription_metrics",
        "_FUNC_(['name']) - What rules have done in this application, one row per query or micro-batch that matched " +
          "rows, or for those with observe => 'name': rows, matches, errors, and the rules with most of them."),
      MetricsTable.of),
    (
      FunctionIdentifier("overlaps"),
      info(
        "overlaps",
        "_FUNC_(['set']) - The advertisements of a rule set, each with every rule that may match its rows, and " +
          "whether it is certain that there are such rows."),
      overlapsTable),
    (
      FunctionIdentifier("detect_patterns"),
      info(
        "detect_patterns",
        "_FUNC_(['set',] TABLE(t), time => 'ts' [, id => 'event_id']) - One row per detection of a pattern in the " +
          "rows of t: pattern, kind, key, start, end, count, and the rows that made it."),
      detectTable))

  private def scalar(name: String, usage: String, answers: Seq[Answer]): Scalar =
    scalar(name, usage, call => {
      call.copy(answers = answers, site = call.site.copy(exact = answers.exists(OfAttributes)))
    })

  private def scalar(name: String, usage: String, result: MatchCall => Expression): Scalar =
    scalar(name, usage, (call, _) => result(call))

  private def scalar(name: String, usage: String, result: (MatchCall, NamedArguments) => Expression): Scalar =
    (FunctionIdentifier(name), info(name, usage), arguments => {
      val (named, others) = NamedArguments.split(name, arguments)
      result(call(name, others, Nil, named), named)
    })

  /** The ids of a row, and what else the call asks for. */
  private def ofRow(call: MatchCall, named: NamedArguments): Expression = {
    val fields = fieldsOf(call, named, Seq(Answer.RuleId))
    val rows = if (named.fields.isEmpty) Nil else Seq(Answer.Rows("matches", Answer.RuleId +: fields), Answer.Version)
    val shadow = if (named.shadow) Seq(Answer.ShadowIds) else Nil
    call.copy(answers = Seq(Answer.Ids, Answer.Overlaps) ++ rows ++ shadow)
  }

  /** An element per match, with what the call asks for. */
  private def ofMatches(call: MatchCall, named: NamedArguments): MatchCall = {
    val own = Seq(Answer.RuleId, Answer.Priority, Answer.Overlap)
    val version = if (named.fields.isEmpty) Nil else Seq(Answer.Version)
    val status = if (named.shadow) Seq(Answer.Status(Selection.Live)) else Nil
    val rows = own ++ fieldsOf(call, named, own ++ version ++ status) ++ version ++ status
    call.copy(answers = Seq(Answer.Rows("rows", rows, named.shadow)))
  }

  /** The fields that a call asks for, with their types in the version that it means now. */
  private def fieldsOf(call: MatchCall, named: NamedArguments, others: Seq[Answer]): Seq[Answer] = {
    val session = SparkSession.active
    val names = named.fields.getOrElse(Nil)
    def isSame(a: String, b: String) = session.sessionState.conf.resolver(a, b)
    names.foreach { name =>
      if (others.exists(answer => isSame(answer.name, name))) {
        throw new RulesException(
          s"fields: there is a column '$name' of every match, so that no field can have this name.")
      }
      if (names.count(isSame(_, name)) > 1) {
        throw new RulesException(s"fields: '$name' is there twice, as column names ignore case.")
      }
    }
    if (names.isEmpty) Nil
    else {
      val store = StoreAccess.of(session)
      RuleField.of(store, currentVersion(session, store, call), names).map(Answer.Field(_))
    }
  }

  private def currentVersion(session: SparkSession, store: Store, call: MatchCall): Version =
    CurrentVersion.of(session, store, call.ruleSet, s"${call.question.function}('alerts', *)")

  /** Fails if no rule has one of the tags: a typo would be answered by silence. */
  private def checkTags(call: MatchCall): MatchCall = {
    call.site.tags.foreach { tags =>
      val session = SparkSession.active
      val store = StoreAccess.of(session)
      KnownTags.check(store, currentVersion(session, store, call), tags)
    }
    call
  }

  private def region(question: Question.OfRegion, answer: RegionAnswer, found: String): Scalar = {
    val name = answer.function(question)
    val usage =
      s"_FUNC_(['set',] *) - $found. Each column describes what values it has there: a value, an array of values, or " +
        "a struct of min, max and nulls. NULL, or no column: anything."
    (FunctionIdentifier(name), info(name, usage), overlapCall(question, answer, _))
  }

  // These answers are about all attributes of the rules together.
  private val OfAttributes: Set[Answer] = Set(Answer.Ranges, Answer.Times)

  private def cidrContains(arguments: Seq[Expression]): Expression = arguments match {
    case Seq(Literal(network: UTF8String, _: StringType), _) if Address.network(network).isEmpty =>
      throw new RulesException(
        s"cidr_contains: '$network' is not a network such as 10.0.0.0/8 or 2001:db8::/32, without bits of a host.")
    case Seq(network, address) => CidrContains(CidrContains.plain(network), CidrContains.plain(address))
    case _ => throw new RulesException("cidr_contains takes two arguments: cidr_contains('10.0.0.0/8', ip).")
  }

  private def info(name: String, usage: String, of: Class[_] = classOf[MatchCall]): ExpressionInfo =
    new ExpressionInfo(
      of.getName, null, name, usage, "", "", "", "misc_funcs", "4.0.0", "", "scala_udf")

  /** `f('set', a, b)`: a leading string names the rule set, the rest are the columns that rules may use. */
  private def call(
      function: String,
      arguments: Seq[Expression],
      answers: Seq[Answer],
      named: NamedArguments = NamedArguments(),
      isRow: StructType => Boolean = _ => true): MatchCall = {
    val (ruleSet, inputs) = splitRuleSet(arguments)
    val columns = inputs match {
      // A single struct stands for a row: its fields are columns too.
      case Seq(struct) if struct.dataType.isInstanceOf[StructType] && isRow(struct.dataType.asInstanceOf[StructType]) =>
        val own = struct match {
          case own: NamedExpression => Seq(namesOf(own) -> struct)
          case _ => Nil
        }
        val taken = own.map(_._1.last.toLowerCase).toSet
        own ++ struct.dataType.asInstanceOf[StructType].fields.zipWithIndex.collect {
          case (field, i) if !taken(field.name.toLowerCase) =>
            Seq(field.name) -> GetStructField(struct, i, Some(field.name))
        }
      case several => several.zipWithIndex.map {
        case (e: NamedExpression, _) => namesOf(e) -> e
        case (field: GetStructField, _) => Seq(field.extractFieldName) -> field
        case (other, i) =>
          throw new RulesException(
            s"Argument ${i + 1 + ruleSet.size} of $function, ${other.sql}, has no name that a rule could use. Write " +
              s"$function(named_struct('name', ${other.sql}, ...)).")
      }
    }
    val site = CallSite(
      ruleSet, columns.map(_._1), Semantics.of(SQLConf.get), top = named.top, tags = named.tags.map(_.toSet),
      observe = named.observe)
    checkTags(MatchCall(site, columns.map(_._2), answers))
  }

  private def overlapCall(
      question: Question.OfRegion, answer: RegionAnswer, arguments: Seq[Expression]): Expression = {
    val function = answer.function(question)
    val (_, others) = NamedArguments.split(function, arguments)
    val asked = call(function, others, Nil, isRow = !RegionShape.isBounds(_))
    val regions = RegionCall(question, answer, asked.ruleSet, asked.names, asked.inputs, asked.semantics)
    regions.shapes // fails where a column cannot describe a region
    regions
  }

  private def splitRuleSet(arguments: Seq[Expression]): (Option[String], Seq[Expression]) = arguments match {
    case Literal(name: UTF8String, _: StringType) +: rest => (Some(name.toString), rest)
    case _ => (None, arguments)
  }

  private def namesOf(e: NamedExpression): Seq[String] = e.qualifier :+ e.name

  private def matchTable(arguments: Seq[Expression]): LogicalPlan = {
    val (named, others) = NamedArguments.split("match_subscriptions", arguments)
    splitRuleSet(others) match {
      case (ruleSet, Seq(table: FunctionTableSubqueryArgumentExpression)) =>
        val columns = ruleSet.map(Literal(_)).toSeq ++ table.plan.output
        val generator = Inline(ofMatches(call("match_subscriptions", columns, Nil, named), named))
        checkFree(table.plan, named)
        val output = generator.elementSchema.map(f => AttributeReference(f.name, f.dataType, f.nullable)())
        Generate(generator, Nil, outer = false, None, output, table.plan)
      case _ =>
        throw new RulesException(
          "match_subscriptions in FROM takes a table: SELECT * FROM match_subscriptions(TABLE(t)), or with the name " +
            "of a rule set, match_subscriptions('alerts', TABLE(t)).")
    }
  }

  /** Fails if a field has the name of a column: nobody could read either. */
  private def checkFree(table: LogicalPlan, named: NamedArguments): Unit = {
    val resolver = SparkSession.active.sessionState.conf.resolver
    val taken = named.fields.toSeq.flatten.find(field => table.output.exists(column => resolver(column.name, field)))
    taken.foreach { field =>
      throw new RulesException(
        s"fields: the table has a column '$field' already. " +
          s"Rename it in a subquery: TABLE(SELECT $field AS other FROM t).")
    }
  }

  private def detectTable(arguments: Seq[Expression]): LogicalPlan = {
    val (named, others) = arguments.partitionMap {
      case named: NamedArgumentExpression => Left(named)
      case other => Right(other)
    }
    val texts = named.map {
      case NamedArgumentExpression(key, Literal(text: UTF8String, _: StringType))
          if Set("time", "id")(key.toLowerCase) => key.toLowerCase -> text.toString
      case NamedArgumentExpression(key, value) =>
        throw new RulesException(
          s"detect_patterns does not take $key => ${value.sql}. It takes the names of columns: time => 'ts' and " +
            "id => 'event_id'.")
    }
    texts.diff(texts.distinctBy(_._1)).headOption.foreach { case (key, _) =>
      throw new RulesException(s"detect_patterns has two arguments '$key'.")
    }
    (splitRuleSet(others), texts.toMap.get("time")) match {
      case ((ruleSet, Seq(table: FunctionTableSubqueryArgumentExpression)), Some(time)) =>
        val columns = ruleSet.map(Literal(_)).toSeq ++ table.plan.output
        DetectTable(table.plan, call("detect_patterns", columns, Nil), time, texts.toMap.get("id"))
      case _ =>
        throw new RulesException(
          "detect_patterns in FROM takes a table and the column of its times: SELECT * FROM " +
            "detect_patterns(TABLE(t), time => 'ts'), or with the name of a rule set, detect_patterns('alerts', " +
            "TABLE(t), time => 'ts').")
    }
  }

  /** Another name for the catalog's table, of a version or of the session's rule set. */
  private def overlapsTable(arguments: Seq[Expression]): LogicalPlan = splitRuleSet(arguments) match {
    case (ruleSet, Nil) =>
      val session = SparkSession.active
      val store = StoreAccess.of(session)
      val version = CurrentVersion.of(session, store, ruleSet, "overlaps('alerts')")
      DataSourceV2Relation.create(Overlaps(store.qualified, version.ruleSet, version.number), None, None)
    case _ =>
      throw new RulesException(
        "overlaps takes the name of a rule set, and nothing else: SELECT * FROM overlaps('alerts'), or overlaps() " +
          "for that of the session.")
  }
}
