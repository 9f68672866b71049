package sparkrules.plan

import java.util.Locale

import org.apache.spark.sql.catalyst.catalog.HiveTableRelation
import org.apache.spark.sql.catalyst.expressions.{Left => _, Right => _, _}
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.util.ArrayData
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.connector.catalog.Table
import org.apache.spark.sql.execution.columnar.InMemoryRelation
import org.apache.spark.sql.execution.datasources.{HadoopFsRelation, LogicalRelation}
import org.apache.spark.sql.execution.datasources.v2.{DataSourceV2Relation, DataSourceV2ScanRelation, FileTable}
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

import sparkrules.answer.Answer
import sparkrules.bind.RuleCall
import sparkrules.conf.{OnPushDown, Settings}
import sparkrules.scan.{ScanColumn, ScanFilter}
import sparkrules.store.StoreAccess

/**
 * Where rows without a match are dropped anyway, puts a filter under [[Match]] that every rule implies. Spark pushes it
 * into the source, which can then skip files, partitions and row groups.
 */
final case class PushScanFilter(session: SparkSession) extends Rule[LogicalPlan] with PredicateHelper {
  import PushScanFilter._

  override def apply(plan: LogicalPlan): LogicalPlan = {
    lazy val mode = Settings.PushDown.get(conf)
    if (!plan.exists(isOpen) || mode == OnPushDown.Never) plan
    else plan.transformDown {
      case filter @ Filter(condition, matched: Match) if isOpen(matched) =>
        val conditions = splitConjunctivePredicates(condition)
        if (matched.spec.per == Per.Row && !conditions.exists(matched.dropsUnmatched(_))) filter
        else filter.copy(child = filtered(matched, conditions, mode))
      case matched: Match if isOpen(matched) && matched.spec.per != Per.Row => filtered(matched, Nil, mode)
    }
  }

  private def isOpen(plan: LogicalPlan): Boolean = plan match {
    case matched: Match => matched.spec.scan.isEmpty
    case _ => false
  }

  /** @param conditions those of a filter on the matches */
  private def filtered(matched: Match, conditions: Seq[Expression], mode: OnPushDown): Match = {
    import matched.spec.rules
    def noted(note: String) = matched.copy(spec = matched.spec.copy(scan = Some(note)))
    def statistics = rules.key.statistics.map(StoreAccess.of(session).statistics(rules.key.version.ruleSet, _))
    if (rules.key.strict) noted("no scan filter: strict, so every row must be looked at")
    else if (matched.child.exists(_.isInstanceOf[EventTimeWatermark])) {
      noted("no scan filter: rows that it drops would not move the watermark")
    } else if (mode == OnPushDown.Auto && !matched.child.exists(isSource)) {
      noted("no scan filter: the rows do not come from a source")
    } else {
      val columns = columnsOf(matched)
      val wantedRules = wanted(conditions, matched)
      ScanFilter.of(rules, columns.keySet, statistics, RuleCall.micros(matched.instant), wantedRules) match {
        case Left(reason) => noted("no scan filter: " + reason)
        case Right(ScanFilter(Literal.TrueLiteral, _, _, _)) =>
          noted("no scan filter: together the rules need every value of a column")
        case Right(found) if mode == OnPushDown.Auto && found.isCounted && found.share > Worthwhile =>
          noted(s"no scan filter: ${percent(found.share)} of the rows would pass")
        case Right(found)
            if mode == OnPushDown.Auto && found.disjuncts.exists(isEverywhere(_, columns, matched.child)) =>
          noted("no scan filter: some rules need only Boolean columns, of which every file has both values")
        case Right(ScanFilter(Literal.FalseLiteral, _, _, _)) if matched.child.isStreaming =>
          noted("no scan filter: no rule can match")
        case Right(ScanFilter(condition, share, isCounted, _)) =>
          val own = condition.transform { case BoundReference(i, _, _) => columns(i) }
          val estimate = s"${if (isCounted) "" else "at a guess "}${percent(share)} of the rows"
          noted(s"scan filter: ${shortened(readable(own))} ($estimate)")
            .copy(scanFilter = Some(own), child = Filter(own, matched.child))
      }
    }
  }

  /**
   * The inputs of the rules that are read, not computed, by their places among the columns of the call. Only those that
   * the source compares as Spark does: it could drop rows that a rule matches.
   */
  private def columnsOf(matched: Match): Map[Int, Expression] = {
    val parts = matched.spec.rules.parts
    val asSpark = matched.child.collectLeaves().forall(comparesAsSpark)
    def isCompared(input: Int) = asSpark || isComparedAlike(matched.inputs(input).dataType)
    val starts = parts.scanLeft(0)(_ + _.inputs)
    parts.indices.flatMap { p =>
      parts(p).bound.columns.zipWithIndex.map { case (column, i) => (column, starts(p) + i) }
    }.collect {
      case (column, input) if matched.spec.read(input) && isCompared(input) => column -> matched.inputs(input)
    }.toMap
  }

  /** Which rules a query asks for, if its conditions tell. */
  private def wanted(conditions: Seq[Expression], matched: Match): Option[(UTF8String, Int) => Boolean] = {
    val answers = matched.added.zip(matched.spec.answers)
    def isAnswer(e: Expression, answer: Answer) =
      answers.exists { case (a, own) => own == answer && a.semanticEquals(e) }

    def named(condition: Expression): Option[Set[UTF8String]] = condition match {
      case ArrayContains(ids, Literal(id: UTF8String, _)) if isAnswer(ids, Answer.Ids) => Some(Set(id))
      case ArraysOverlap(ids, Literal(some: ArrayData, ArrayType(t, _))) if isAnswer(ids, Answer.Ids) =>
        Some(some.toObjectArray(t).collect { case id: UTF8String => id }.toSet)
      case Or(left, right) => for (a <- named(left); b <- named(right)) yield a ++ b
      case And(left, right) => named(left).orElse(named(right))
      case _ => None
    }

    matched.spec.per match {
      case Per.Row => conditions.flatMap(named(_)).reduceOption(_ intersect _).map(ids => (id, _) => ids(id))
      case Per.Match =>
        val row = answers.collect { case (a, Answer.RuleId | Answer.Priority) => a }
        val own = conditions.filter(c => c.deterministic && c.references.subsetOf(AttributeSet(row)) && !canFail(c))
        own.reduceOption(And(_, _)).map { condition =>
          val kept = Predicate.createInterpreted(BindReferences.bindReference(condition, AttributeSeq(row)))
          val values = new GenericInternalRow(row.length)
          val isId = row.map(a => answers.collectFirst { case (`a`, answer) => answer == Answer.RuleId }.get)
          (id: UTF8String, priority: Int) => {
            isId.indices.foreach(i => values.update(i, if (isId(i)) id else priority))
            kept.eval(values)
          }
        }
      case Per.Rule => None
    }
  }
}

object PushScanFilter {

  /** Filters that let more rows pass are not worth the look at them. */
  private val Worthwhile = 0.9

  private val LongestText = 300

  private def percent(share: Double): String =
    if (share <= 0) "none"
    else String.format(Locale.ROOT, if (share < 0.001) "%.4f %%" else "%.1f %%", Double.box(100 * share))

  private def readable(condition: Expression): String = {
    val text = condition.transform { case a: Attribute => a.withQualifier(Nil) }.sql
    if (text.startsWith("((") && text.endsWith("))")) text.substring(1, text.length - 1) else text
  }

  private def shortened(text: String): String =
    if (text.length <= LongestText) text else text.take(LongestText) + "..."

  /**
   * Whether what a disjunct compares are Boolean columns only: files and row groups have both values, unless the table
   * is partitioned by one. Tables that do not say by what they are partitioned may be. Of other columns with few values
   * the statistics do not tell: they count how many rows have a value, not whether these lie together.
   */
  private def isEverywhere(values: Seq[Expression], columns: Map[Int, Expression], child: LogicalPlan): Boolean =
    values.forall { value =>
      value.isInstanceOf[BoundReference] && value.dataType == BooleanType && !ScanColumn.isSearch(value)
    } && {
      val names = values.collect { case BoundReference(i, _, _) => columns.get(i) }.flatten.collect {
        case a: Attribute => a.name
      }
      val tables = child.collectLeaves().collect { case leaf: LogicalRelation => leaf.relation }
      tables.exists {
        case files: HadoopFsRelation =>
          !names.exists(name => files.partitionSchema.fieldNames.exists(_.equalsIgnoreCase(name)))
        case _ => false
      }
    }

  /** Whether rows come from something that can skip some of them. */
  private def isSource(plan: LogicalPlan): Boolean = plan match {
    case _: LogicalRelation | _: DataSourceV2Relation | _: DataSourceV2ScanRelation => true
    case _: HiveTableRelation | _: InMemoryRelation => true
    case other => other.children.isEmpty && other.isStreaming
  }

  /** Whether a source, if it is asked to compare values at all, does so as Spark: by the statistics of files, say. */
  private def comparesAsSpark(leaf: LogicalPlan): Boolean = leaf match {
    case relation: LogicalRelation => relation.relation.isInstanceOf[HadoopFsRelation]
    case relation: DataSourceV2Relation => isOfFiles(relation.table)
    case relation: DataSourceV2ScanRelation => isOfFiles(relation.relation.table)
    case _ => true
  }

  private def isOfFiles(table: Table): Boolean =
    table.isInstanceOf[FileTable] || LakePackages.exists(table.getClass.getName.startsWith)

  private val LakePackages = Seq("org.apache.iceberg.", "org.apache.spark.sql.delta.")

  /**
   * Whether every database compares values of a type alike. A string has a collation there, which may order strings in
   * other ways, or take different ones for equal; NaN and infinity may be unknown, or cannot be written.
   */
  private def isComparedAlike(dataType: DataType): Boolean = dataType match {
    case ByteType | ShortType | IntegerType | LongType | _: DecimalType => true
    case BooleanType | DateType | TimestampType | TimestampNTZType => true
    case _ => false
  }

  /** Whether evaluating a condition on the id and the priority of a rule could raise an error. */
  private def canFail(condition: Expression): Boolean = condition.exists {
    case _: BinaryComparison | _: In | _: InSet | _: And | _: Or | _: Not | _: Literal | _: Attribute => false
    case _: IsNull | _: IsNotNull | _: StartsWith | _: EndsWith | _: Contains | _: Like | _: Lower | _: Upper => false
    case _ => true
  }
}
