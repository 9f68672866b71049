package sparkrules.scan

import scala.collection.mutable
import scala.collection.mutable.ArrayBuffer

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types.DataType

import sparkrules.bind.SlotTexts
import sparkrules.guard.Metering
import sparkrules.program.{Forest, Program}
import sparkrules.store.Statistics
import sparkrules.value.Keys

/** A part of a version, as scan filters see it; `columns` are the columns of the call that its first inputs are. */
final class ScanPart(val program: Program, val forest: Forest, val columns: Seq[Int])

/**
 * The columns of a version that sources can filter by, the same for all of its parts. Each part has its own constants,
 * and so its own codes.
 */
final class ScanColumns private (val all: IndexedSeq[ScanColumn], val ofParts: IndexedSeq[PartColumns])

/**
 * The columns of a part.
 *
 * @param columns per slot: its column, or -1
 * @param recoded per slot with a column: for each key of the part, the code of that key among all keys of the column
 */
final class PartColumns(columns: Array[Int], recoded: Array[Array[Int]], keys: IndexedSeq[Keys]) {

  /** The column of a slot, or -1. */
  def column(slot: Int): Int = if (slot < 0) -1 else columns(slot)

  /** A set of the slot's codes as codes of its column. */
  def codes(slot: Int, intervals: Array[Int]): Array[Int] = {
    val own = recoded(slot)
    val most = keys(columns(slot)).maxCode
    val result = new Array[Int](intervals.length)
    var i = 0
    while (i < intervals.length) {
      val (first, last) = (intervals(i), intervals(i + 1))
      // A range between two keys of the part may have keys of other parts in it.
      result(i) = if (first <= 1) first else own(first / 2 - 1) + first % 2
      result(i + 1) = if (last == 0) 0 else if (last > 2 * own.length) most else own((last - 1) / 2) - last % 2
      i += 2
    }
    result
  }
}

object ScanColumns {

  /** @param readable the columns of the call that are read, not computed, by their places */
  def of(parts: IndexedSeq[ScanPart], readable: Set[Int], statistics: Option[Statistics]): ScanColumns = {
    val numbers = mutable.HashMap.empty[Expression, Int]
    val values = ArrayBuffer.empty[Expression]
    val texts = ArrayBuffer.empty[String]
    val constants = ArrayBuffer.empty[ArrayBuffer[Keys]]
    val columns = parts.map { part =>
      val slots = part.program.slots
      val expressions = slots.copyExpressions()
      lazy val names = SlotTexts.of(expressions, slots.bases)
      expressions.indices.map { slot =>
        valueOf(part, expressions, slot, readable).fold(-1) { value =>
          val number = numbers.getOrElseUpdate(value.canonicalized, {
            values += value
            texts += (if (statistics.isDefined) names(slot) else "")
            constants += ArrayBuffer.empty
            values.length - 1
          })
          constants(number) += slots.keys(slot)
          number
        }
      }.toArray
    }
    val keys = values.indices.map(c => united(constants(c).toSeq, values(c).dataType))
    new ScanColumns(
      values.indices.map(c => new ScanColumn(values(c), keys(c), statistics.flatMap(_.shares(texts(c), keys(c))))),
      parts.indices.map { p =>
        val own = parts(p).program.slots.keys
        val recoded = columns(p).zipWithIndex.map { case (column, slot) =>
          if (column < 0) Array.empty[Int]
          // As many keys are the same ones.
          else if (own(slot).size == keys(column).size) Array.tabulate(own(slot).size)(i => 2 * i + 2)
          else Array.tabulate(own(slot).size)(i => keys(column).codeOf(own(slot).value(i)))
        }
        new PartColumns(columns(p), recoded, keys)
      })
  }

  private def united(all: Seq[Keys], dataType: DataType): Keys = all match {
    case Seq(own) if own.size > 0 => own.tuned(None, onlyKeys = false)
    case several => Keys.of(dataType, several.flatMap(own => (0 until own.size).map(own.value)).toArray)
  }

  /** What a slot is, over the columns of the call, if sources can filter by it. */
  private def valueOf(
      part: ScanPart, expressions: Array[Expression], slot: Int, readable: Set[Int]): Option[Expression] = {
    val base = part.program.slots.bases(slot)
    val own = plain(expressions(slot))
    val value =
      if (base < 0) own
      else if (!ScanColumn.isSearch(own)) Literal(null)
      else own.transformUp { case _: BoundReference => plain(expressions(base)) }
    val isUsable =
      if (base < 0) ScanColumn.isColumn(value)
      else ScanColumn.isSearch(value) && ScanColumn.isColumn(value.children.head)
    // Inputs after the columns are computed by the plan.
    val isComputed = value.exists {
      case BoundReference(i, _, _) => i >= part.columns.length || !readable(part.columns(i))
      case _ => false
    }
    Option.when(isUsable && !isComputed)(value.transform {
      case BoundReference(i, dataType, nullable) => BoundReference(part.columns(i), dataType, nullable)
    })
  }

  private def plain(expression: Expression): Expression =
    expression.transformUp(Metering.unmetered)
}
