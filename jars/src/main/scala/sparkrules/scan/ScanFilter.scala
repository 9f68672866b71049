package sparkrules.scan

import java.util.{Collections, WeakHashMap}

import scala.collection.immutable.ArraySeq

import org.apache.spark.sql.catalyst.expressions.{Expression, Literal, Or}
import org.apache.spark.unsafe.types.UTF8String

import sparkrules.conf.Listed
import sparkrules.program.Hidden
import sparkrules.store.Statistics
import sparkrules.value.{IntLists, LruCache}
import sparkrules.version.PinnedRules

/**
 * A condition that is true for every row with a match, for the source of the rows: it skips what no rule can match. Of
 * the rows for which it is true, any number may have no match.
 *
 * @param condition over the columns of the call, as bound references. It cannot fail.
 * @param share the share of rows for which it is true, if columns are independent
 * @param isCounted whether the share comes from statistics of all columns concerned
 * @param disjuncts what each disjunct compares, as in the condition
 */
final case class ScanFilter(
    condition: Expression, share: Double, isCounted: Boolean, disjuncts: Seq[Seq[Expression]])

object ScanFilter {

  // Queries of a version mostly ask for the same. An entry does not keep its version alive.
  private val known =
    Collections.synchronizedMap(new WeakHashMap[PinnedRules, LruCache[Seq[Any], Either[String, ScanFilter]]])
  private val MostKnown = 8
  private val MostNamed = 4

  /**
   * The filter for all rules that can match at an instant, or why there is none.
   *
   * @param columns the columns of the call that a source can filter by, by their places
   * @param isWanted whether a rule, of this id and priority, is asked for; all are if it is not given
   */
  def of(
      rules: PinnedRules,
      columns: Set[Int],
      statistics: => Option[Statistics],
      instant: Option[Long],
      isWanted: Option[(UTF8String, Int) => Boolean] = None): Either[String, ScanFilter] = {
    val hidden = rules.parts.indices.map(rules.hidden(_, instant))
    def found = find(rules, columns, statistics, hidden, isWanted)
    if (isWanted.isDefined) found
    else {
      val own = known.computeIfAbsent(rules, _ => new LruCache)
      val result = own.getOrElseUpdate(columns +: hidden.map(Option(_).map(ArraySeq.unsafeWrapArray(_))))(found)
      own.trim(MostKnown)
      result
    }
  }

  private def find(
      rules: PinnedRules,
      readable: Set[Int],
      statistics: Option[Statistics],
      hidden: IndexedSeq[Array[Long]],
      isWanted: Option[(UTF8String, Int) => Boolean]): Either[String, ScanFilter] = {
    val parts = rules.parts.map(part => new ScanPart(part.program, part.forest, part.bound.columns))
    val numbers = parts.indices.map { p =>
      val own = parts(p).program.rules
      Array.range(0, own.size).filter { rule =>
        !Hidden.isHidden(hidden(p), rule) && isWanted.forall(_(own.ids(rule), own.priorities(rule)))
      }
    }
    of(parts, numbers, readable, statistics)
  }

  /** @param rules per part: those that are asked for, by their numbers */
  private[scan] def of(
      parts: IndexedSeq[ScanPart],
      rules: IndexedSeq[Array[Int]],
      readable: Set[Int],
      statistics: Option[Statistics]): Either[String, ScanFilter] = {
    val columns = ScanColumns.of(parts, readable, statistics)
    val needs = parts.indices.map(p => new RuleNeeds(parts(p).forest, columns.ofParts(p), columns.all))
    val unbounded = parts.indices.flatMap { p =>
      rules(p).iterator.filterNot(needs(p).bounds).take(MostNamed).map(parts(p).program.rules.ids(_))
    }
    if (unbounded.nonEmpty) {
      Left("no source can filter by what these rules need: " + Listed(unbounded.map(_.toString), MostNamed - 1))
    } else {
      val builder = new BoxesBuilder(columns.all)
      parts.indices.foreach(p => needs(p).addBoxes(rules(p), builder))
      val boxes = builder.result
      if (boxes.size == 0) Right(ScanFilter(Literal.FalseLiteral, 0.0, isCounted = true, Nil))
      else of(columns.all, boxes).toRight("it would be too large, as the rules need too many different columns")
    }
  }

  /** The filter for the fewest rows of those that are small enough. */
  private def of(columns: IndexedSeq[ScanColumn], boxes: Boxes): Option[ScanFilter] = {
    val filters = new Cover(columns, boxes).candidates.map { chosen =>
      val assigned = IntLists.group(columns.length, chosen, Array.range(0, boxes.size))
      val used = columns.indices.filter(assigned.length(_) > 0)
      // Besides ranges a column may have a list of values, zeros and NULL.
      val most = (ScanBounds.Disjuncts / used.length - 3).max(1)
      val disjuncts = used.map(c => Disjunct.of(columns, c, boxes.only(assigned(c)), most))
      val share = 1.0 - disjuncts.map(1.0 - _.share).product
      (share, disjuncts)
    }
    filters.sortBy(_._1).iterator.map { case (share, disjuncts) =>
      ScanFilter(
        disjuncts.map(_.condition).reduce(Or(_, _)), share, disjuncts.forall(_.isCounted), disjuncts.map(_.values))
    }.find(found => disjunctsOf(found.condition) <= ScanBounds.Disjuncts)
  }

  private def disjunctsOf(condition: Expression): Int = condition match {
    case Or(left, right) => disjunctsOf(left) + disjunctsOf(right)
    case _ => 1
  }
}
