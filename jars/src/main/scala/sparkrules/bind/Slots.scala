package sparkrules.bind

import scala.collection.mutable
import scala.collection.mutable.ArrayBuffer

import org.apache.spark.sql.catalyst.expressions._

import sparkrules.guard.{Depth, Metering, Rejection}
import sparkrules.lists.ListReference
import sparkrules.spark.SparkMinor
import sparkrules.value.{Codes, Keys}

/**
 * An expression that is computed at most once per row: an attribute or, if `base` >= 0, a predicate on the value of
 * that slot, which is then the only input of the expression.
 *
 * @param shares the share of rows per code, if the rule set has been analysed
 * @param microseconds how long it takes to compute it for a row, if that was declared or measured; without its base
 */
final case class Slot(
    expression: Expression,
    base: Int,
    keys: Keys,
    shares: Option[Array[Double]] = None,
    microseconds: Option[Double] = None) {
  private lazy val sharesBelow = shares.map(_.scanLeft(0.0)(_ + _))

  /** The share of rows whose code lies in one of these intervals. */
  def selectivity(intervals: Array[Int]): Option[Double] = sharesBelow.map { below =>
    Codes.pairs(intervals).map { case (first, last) => below(last + 1) - below(first) }.sum
  }
}

/** Collects the slots of a rule set while it is bound. Equal expressions share a slot, with the constants of all. */
final class Slots(analysis: Analysis) {
  private val numbers = mutable.HashMap.empty[(Int, Expression), Int]
  private val expressions = ArrayBuffer.empty[Expression]
  private val bases = ArrayBuffer.empty[Int]
  private val constants = ArrayBuffer.empty[ArrayBuffer[Any]]
  private val sealedKeys = mutable.HashMap.empty[Int, Keys]

  def of(expression: Expression): Int = number(-1, expression)

  def test(base: Int, expression: Expression): Int = number(base, expression)

  private def number(base: Int, expression: Expression): Int =
    numbers.getOrElseUpdate((base, Slots.withoutEmptyCasts(expression).canonicalized), {
      expressions += expression
      bases += base
      constants += ArrayBuffer.empty
      expressions.length - 1
    })

  /** Adds constants that `slot` is compared with. */
  def compare(slot: Int, values: Array[Any]): Unit = constants(slot) ++= values

  /** The keys of a slot, once all its constants are known. */
  def keys(slot: Int): Keys =
    sealedKeys.getOrElseUpdate(slot, Keys.of(expressions(slot).dataType, constants(slot).toArray))

  def bound(row: Seq[Attribute], predicates: Array[Either[Rejection, BoundPredicate]], texts: Array[Int]): Bound = {
    val extras = mutable.LinkedHashMap.empty[Expression, (AttributeReference, Expression)]
    val own = expressions.toSeq.map(_.transformDown {
      case e if Slots.belongsToPlan(e) =>
        val value =
          extras.getOrElseUpdate(e.canonicalized, (AttributeReference("extra", e.dataType, e.nullable)(), e))._1
        if (e.isInstanceOf[PythonUDF]) PythonValue(value) else value
    })
    val finished = analysis.finish(own).map(JointCalls.inlined)
    val used = AttributeSet.fromAttributeSets(finished.map(_.references))
    val columns = row.indices.filter(i => used.contains(row(i)))
    val inputs = AttributeSeq(columns.map(row) ++ extras.values.map(_._1))
    val names = SlotTexts.namesOf(row, columns, extras.values.map(_._2).toSeq)
    val marked = withCommonParts(finished)
    val slots = finished.indices.map { i =>
      val ready = Depth.bounded(finished(i)) {
        val bound = Metering(BindReferences.bindReference(marked(i), inputs))
        if (bases(i) < 0) SlotTexts.named(bound, names) else bound
      }
      Slot(ready, bases(i), keys(i))
    }
    Bound(row, columns, extras.values.map(_._2).toSeq, slots.toArray, predicates, texts)
  }

  /** A predicate on the value of another slot has nothing in common with others: it does not see the row. */
  private def withCommonParts(finished: Seq[Expression]): IndexedSeq[Expression] = {
    val (own, based) = finished.indices.partition(bases(_) < 0)
    val marked = own.zip(SharedCalls.marked(own.map(finished))) ++ based.map(i => i -> finished(i))
    marked.sortBy(_._1).map(_._2)
  }
}

object Slots {

  /** Without casts to the type that a value has: Spark adds them to the operand of IN, its optimizer removes them. */
  private def withoutEmptyCasts(expression: Expression): Expression = expression.transformUp {
    case cast: Cast if cast.child.dataType == cast.dataType => cast.child
  }

  /** Whether a slot cannot compute it: a Python function runs in a process of its own; a query has one
   * instant, and one version of each list.
   */
  private[sparkrules] def belongsToPlan(e: Expression): Boolean = e match {
    case _: ListReference => true
    case _: PythonUDF | _: CurrentTimestampLike | _: CurrentDate | _: LocalTimestamp => true
    case other => SparkMinor.isCurrentTime(other)
  }
}
