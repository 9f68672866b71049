package sparkrules.region

import java.util.Arrays

import scala.collection.immutable.BitSet
import scala.util.control.NonFatal

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types._

import sparkrules.program.{Hidden, IdBuffer}
import sparkrules.value.{Codes, Keys}

/**
 * Finds the rules that could match some row of a region, one for each task. Of each slot it is found out which codes it
 * may have; a test could be true if one of these is among its own. Slots are looked at one by one: what two of them
 * have to do with each other is not known, so that a rule may be given that matches no row, but none is left out that
 * does.
 *
 * @param inputs the columns that describe the region, bound to the rows that come
 */
final class RegionMatcher(program: RegionProgram, inputs: Seq[Expression], instant: Option[Long]) {
  import program._

  private val expressions = copyExpressions()
  private val hidden = Hidden.of(ids.size, validity, Array.empty, instant)
  // Per slot: the columns that it is computed from.
  private val slotColumns: Array[Array[Int]] = expressions.indices.map { slot =>
    val computed = expressions(if (bases(slot) >= 0) bases(slot) else slot)
    computed.collect { case BoundReference(i, _, _) => i }.distinct.toArray
  }.toArray
  private val regions = new Array[Region](inputs.length)
  private val row = new GenericInternalRow(inputs.length)
  private val operand = new GenericInternalRow(1)
  private val couldBe = new Array[Boolean](forest.tests.size)
  private val codes = new Array[Array[Int]](expressions.length)
  private val nodes = new Array[Boolean](forest.size)
  private val found = new Array[Int](ids.size)

  /** The ids of the rules that could match a row of the region that `described` describes. */
  def overlapping(described: InternalRow): UnsafeArrayData = {
    var count = 0
    if (read(described)) {
      testAll()
      evaluate()
      var s = 0
      while (s < ids.size) {
        val isHidden = hidden != null && (hidden(s >> 6) & (1L << s)) != 0
        if (nodes(forest.roots(s)) && !isHidden) { found(count) = s; count += 1 }
        s += 1
      }
    }
    ids.array(found, count, new IdBuffer(isReused = false))
  }

  /** False if the region has no rows. */
  private def read(described: InternalRow): Boolean = inputs.indices.forall { i =>
    val region = shapes(i).read(inputs(i).eval(described))
    region.foreach(regions(i) = _)
    region.isDefined
  }

  private def testAll(): Unit = {
    Arrays.fill(codes.asInstanceOf[Array[AnyRef]], null)
    var test = 0
    while (test < couldBe.length) {
      val slot = forest.testSlots(test)
      if (codes(slot) == null) codes(slot) = Codes.intersection(codesOf(slot), realCodes(slot))
      couldBe(test) = Codes.meet(forest.tests.values, forest.tests.start(test), forest.tests.end(test), codes(slot))
      test += 1
    }
  }

  /** Nodes come after those that they need. */
  private def evaluate(): Unit = {
    var node = 0
    while (node < nodes.length) {
      val all = forest.isAll(node)
      var isOpen = true // as long as nothing has decided
      var i = forest.nodeTests.start(node)
      while (isOpen && i < forest.nodeTests.end(node)) { isOpen = couldBe(forest.nodeTests.values(i)) == all; i += 1 }
      i = forest.nodeChildren.start(node)
      while (isOpen && i < forest.nodeChildren.end(node)) {
        isOpen = nodes(forest.nodeChildren.values(i)) == all
        i += 1
      }
      nodes(node) = isOpen == all
      node += 1
    }
  }

  /** The codes that a slot may have, as sorted intervals. */
  private def codesOf(slot: Int): Array[Int] = {
    val columns = slotColumns(slot)
    lazy val combinations = columns.iterator.map { column =>
      regions(column) match {
        case Region.Values(values) => values.length.toLong
        case _ => RegionMatcher.Most + 1
      }
    }.foldLeft(1L)((product, n) => if (product > RegionMatcher.Most) product else product * n)
    // Python functions, and the query's instant, come after the columns.
    if (columns.exists(_ >= inputs.length)) everything(slot)
    else columns match {
      case Array(column) =>
        regions(column) match {
          case Region.Values(_) => enumerated(slot, columns)
          case Region.Between(min, max, nulls) if bases(slot) < 0 => between(slot, column, min, max, nulls)
          case _ => everything(slot)
        }
      case _ => if (combinations <= RegionMatcher.Most) enumerated(slot, columns) else everything(slot)
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

  /** Of the values that `row` has. */
  private def codeOf(slot: Int): Int =
    try {
      val value = if (bases(slot) < 0) expressions(slot).eval(row) else {
        val base = expressions(bases(slot)).eval(row)
        if (base == null) null else { operand.update(0, base); expressions(slot).eval(operand) }
      }
      if (value == null) Keys.NullCode else keys(slot).codeOf(value)
    } catch {
      // No test of a value that cannot be computed is true.
      case _: StackOverflowError | _: OutOfMemoryError => Keys.ErrorCode
      case NonFatal(_) => Keys.ErrorCode
    }

  private def between(slot: Int, column: Int, min: Any, max: Any, nulls: Boolean): Array[Int] = {
    def bound(value: Any, none: Int): Int = if (value == null) none else {
      row.update(column, value)
      codeOf(slot)
    }
    if (!RegionMatcher.isMonotonous(expressions(slot))) everything(slot)
    else {
      val (first, last) = (bound(min, 1), bound(max, keys(slot).maxCode))
      // A bound that cannot be converted says nothing.
      if (first <= 0 || last <= 0) everything(slot)
      else Codes.union((if (nulls) Seq(Array(Keys.NullCode, Keys.NullCode)) else Nil) :+ Array(first, last))
    }
  }
}

object RegionMatcher {

  /** So many combinations of values are tried where a condition is about several columns. */
  private val Most = 1000L

  /** Whether a greater value of its column never gives a smaller value, and one that is not NULL never gives NULL. */
  private def isMonotonous(e: Expression): Boolean = e match {
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
