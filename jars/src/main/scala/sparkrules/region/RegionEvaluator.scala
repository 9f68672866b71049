package sparkrules.region

import java.util.Arrays

import scala.collection.immutable.BitSet
import scala.util.control.NonFatal

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types._

import sparkrules.program.{Forest, IdBuffer}
import sparkrules.value.{Codes, Keys}
import sparkrules.version.PinnedRules

/**
 * Finds the rules that could match some row of a region; one for each task. For each slot, compute the codes it can
 * take in the region: a predicate could be true if one of its codes is among them. Each slot is looked at by itself, as
 * nothing is known of how slots depend on each other. So some rules may match no row of the region, but no rule that
 * matches one is missing.
 *
 * @param rules asked about regions, hence one part, whose forest has the predicates of a slot merged
 * @param inputs the columns that describe the region, bound to the rows that come; and `shapes` how they do
 */
final class RegionEvaluator(
    rules: PinnedRules, inputs: Seq[Expression], shapes: Seq[RegionShape], instant: Option[Long]) {
  private val program = rules.parts.head.program
  private val forest = rules.parts.head.forest
  import program.rules.ids
  import program.slots.{bases, keys}

  private val expressions = program.slots.copyExpressions()
  private val hidden = rules.hidden(0, instant)
  // Per slot: the columns it is computed from.
  private val slotColumns: Array[Array[Int]] = expressions.indices.map { slot =>
    val computed = expressions(if (bases(slot) >= 0) bases(slot) else slot)
    computed.collect { case BoundReference(i, _, _) => i }.distinct.toArray
  }.toArray
  private val regions = new Array[Region](inputs.length)
  private val row = new GenericInternalRow(inputs.length)
  private val operand = new GenericInternalRow(1)
  // Per slot: the codes it can take in the region, as sorted intervals, or null.
  private val codes = new Array[Array[Int]](expressions.length)
  // Per node: whether it could be true in the region.
  private val couldBe = new Array[Boolean](forest.size)
  // Per node: whether `couldBe` has been computed, where nodes are computed as they are needed.
  private val isKnown = new Array[Boolean](forest.size)
  private val found = new Array[Int](ids.size)

  /** The ids of the rules that could match a row of the region that `described` describes. */
  def overlapping(described: InternalRow): UnsafeArrayData = {
    var count = 0
    if (read(described)) {
      evaluate()
      var s = 0
      while (s < ids.size) {
        if (couldBe(forest.roots(s)) && !isHidden(s)) { found(count) = s; count += 1 }
        s += 1
      }
    }
    ids.array(found, count, new IdBuffer(isReused = false))
  }

  /** Whether any rule could match a row of the region. Evaluates only what it needs until it finds one. */
  def isAnyOverlapping(described: InternalRow): Boolean = read(described) && {
    Arrays.fill(codes.asInstanceOf[Array[AnyRef]], null)
    Arrays.fill(isKnown, false)
    var s = 0
    while (s < ids.size && (isHidden(s) || !couldHoldAt(forest.roots(s)))) s += 1
    s < ids.size
  }

  /** Whether a node could be true in the region, computed when it is first asked. */
  private def couldHoldAt(node: Int): Boolean = {
    if (!isKnown(node)) {
      val kind = forest.kinds(node)
      couldBe(node) = if (kind == Forest.Predicate) couldHold(node) else {
        // An AND is decided by the first child that is false, an OR by the first that is true.
        val decisive = kind != Forest.And
        val end = forest.children.end(node)
        var i = forest.children.start(node)
        while (i < end && couldHoldAt(forest.children.values(i)) != decisive) i += 1
        (i < end) == decisive
      }
      isKnown(node) = true
    }
    couldBe(node)
  }

  private def isHidden(rule: Int): Boolean = hidden != null && (hidden(rule >> 6) & (1L << rule)) != 0

  /** Reads the region of each column; false if the region has no rows. */
  private def read(described: InternalRow): Boolean = inputs.indices.forall { i =>
    val region = shapes(i).read(inputs(i).eval(described))
    region.foreach(regions(i) = _)
    region.isDefined
  }

  /** Children come before their parents. */
  private def evaluate(): Unit = {
    Arrays.fill(codes.asInstanceOf[Array[AnyRef]], null)
    var node = 0
    while (node < couldBe.length) {
      couldBe(node) = forest.kinds(node) match {
        case Forest.Predicate => couldHold(node)
        case Forest.And => !isAnyChild(node, couldBeTrue = false)
        case _ => isAnyChild(node, couldBeTrue = true)
      }
      node += 1
    }
  }

  private def isAnyChild(node: Int, couldBeTrue: Boolean): Boolean = {
    val end = forest.children.end(node)
    var i = forest.children.start(node)
    while (i < end && couldBe(forest.children.values(i)) != couldBeTrue) i += 1
    i < end
  }

  private def couldHold(predicate: Int): Boolean = {
    val slot = forest.slots(predicate)
    slot < 0 || {
      if (codes(slot) == null) codes(slot) = Codes.intersection(codesOf(slot), keys(slot).realCodes)
      val intervals = forest.intervals
      Codes.meet(intervals.values, intervals.start(predicate), intervals.end(predicate), codes(slot))
    }
  }

  /** The codes that a slot can take, as sorted intervals. */
  private def codesOf(slot: Int): Array[Int] = {
    val columns = slotColumns(slot)
    lazy val combinations = columns.iterator.map { column =>
      regions(column) match {
        case Region.Values(values) => values.length.toLong
        case _ => RegionEvaluator.MostCombinations + 1
      }
    }.foldLeft(1L)((product, n) => if (product > RegionEvaluator.MostCombinations) product else product * n)
    // Python functions, and the query's instant, come after the columns.
    if (columns.exists(_ >= inputs.length)) everything(slot)
    else columns match {
      case Array(column) =>
        regions(column) match {
          case Region.Values(_) => enumerated(slot, columns)
          case Region.Between(min, max, nulls) if bases(slot) < 0 => between(slot, column, min, max, nulls)
          case _ => everything(slot)
        }
      case _ => if (combinations <= RegionEvaluator.MostCombinations) enumerated(slot, columns) else everything(slot)
    }
  }

  private def everything(slot: Int): Array[Int] = Array(Keys.NullCode, keys(slot).maxCode)

  /** The codes for all combinations of values of the columns. */
  private def enumerated(slot: Int, columns: Array[Int]): Array[Int] = {
    val all = BitSet.newBuilder
    def choose(i: Int): Unit =
      if (i == columns.length) { val code = codeOf(slot); if (code >= 0) all += code }
      else regions(columns(i)).asInstanceOf[Region.Values].values.foreach { value =>
        row.update(columns(i), value)
        choose(i + 1)
      }
    choose(0)
    Codes.union(all.result().toSeq.map(code => Array(code, code)))
  }

  /** The code for the values of `row`. */
  private def codeOf(slot: Int): Int =
    try {
      val value = if (bases(slot) < 0) expressions(slot).eval(row) else {
        val base = expressions(bases(slot)).eval(row)
        if (base == null) null else { operand.update(0, base); expressions(slot).eval(operand) }
      }
      if (value == null) Keys.NullCode else keys(slot).codeOf(value)
    } catch {
      // No predicate of a value that cannot be computed is true.
      case _: StackOverflowError | _: OutOfMemoryError => Keys.ErrorCode
      case NonFatal(_) => Keys.ErrorCode
    }

  private def between(slot: Int, column: Int, min: Any, max: Any, nulls: Boolean): Array[Int] = {
    def bound(value: Any, none: Int): Int = if (value == null) none else {
      row.update(column, value)
      codeOf(slot)
    }
    if (!RegionEvaluator.isMonotonic(expressions(slot))) everything(slot)
    else {
      val (first, last) = (bound(min, 1), bound(max, keys(slot).maxCode))
      // Nothing is known if a bound cannot be converted.
      if (first <= 0 || last <= 0) everything(slot)
      else Codes.union((if (nulls) Seq(Array(Keys.NullCode, Keys.NullCode)) else Nil) :+ Array(first, last))
    }
  }
}

object RegionEvaluator {

  /** How many combinations of values are tried if a slot is computed from several columns. */
  private val MostCombinations = 1000L

  /** Whether a greater value of the column never gives a smaller result, and no value but NULL gives NULL. */
  private def isMonotonic(e: Expression): Boolean = e match {
    case _: BoundReference => true
    case cast: Cast => cast.child.isInstanceOf[BoundReference] && isWidening(cast.child.dataType, cast.dataType)
    case _ => false
  }

  private def isWidening(from: DataType, to: DataType): Boolean = (from, to) match {
    case (_: NumericType, _: NumericType) => Cast.canUpCast(from, to)
    case (DateType, TimestampType | TimestampNTZType) => true
    case _ => from == to
  }
}
