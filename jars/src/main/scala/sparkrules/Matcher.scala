package sparkrules

import java.util.Arrays

import scala.collection.mutable
import scala.util.control.NonFatal

import org.apache.spark.sparkrules.RuleError
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{BasePredicate, BoundReference, Expression, GenericInternalRow, Predicate}

/**
 * Matches rows against a [[Program]]: what changes from row to row, one for each task. Nothing is cleared between rows:
 * a stamp that is not the current row's counts as empty.
 *
 * @param inputs the program's inputs as expressions bound to the rows that come
 */
final class Matcher(val program: Program, inputs: Seq[Expression]) {
  import program._

  private val slotExpressions: Array[Expression] = copyExpressions().zipWithIndex.map {
    case (e, slot) if bases(slot) >= 0 => e
    case (e, _) => e.transform { case BoundReference(i, _, _) => inputs(i) }
  }
  private val readers: Array[SlotReader] =
    slotExpressions.zip(keys).map { case (expression, slotKeys) => SlotReader(expression, slotKeys) }
  private val operand = new GenericInternalRow(1)
  // Generated as for a WHERE clause: what is evaluated before what, and so what fails, is not quite the same otherwise.
  private val conditions = mutable.HashMap.empty[Int, BasePredicate]

  private var row: InternalRow = _
  private var stamp = 0
  private val slotStamps = new Array[Int](readers.length)
  private val slotCodes = new Array[Int](readers.length)
  private val reasons = new Array[Throwable](readers.length)
  // Per node, of the last row that asked: twice the stamp, plus one if it was true.
  private val answers = new Array[Int](kinds.length)
  private val fired = new Array[Int](kinds.length)
  private var stack = new Array[Int](64)
  private var depth = 0
  private var found = new Array[Int](64)

  /** Subscriptions that match the last row: `matched(0)` until `matched(count)`, in the order of the program. */
  var count = 0
  def matched(i: Int): Int = found(i)

  /** Values that could not be computed, since this matcher was made. */
  var errors = 0L

  def run(next: InternalRow): Unit = {
    row = next
    count = 0
    stamp += 1
    if (stamp == Matcher.LastStamp) forget()
    var i = 0
    while (i < always.length) { fire(always(i)); i += 1 }
    i = 0
    while (i < drivers.length) { trigger(drivers(i)); i += 1 }
    Arrays.sort(found, 0, count)
    if (texts.nonEmpty) requireNoErrors()
  }

  /** The slots that cannot be computed for the last row, with the reason: all of them, needed for a match or not. */
  def failures(): Seq[(Int, Throwable)] =
    fallible.toSeq.filter(codeOf(_) == Keys.ErrorCode).map { slot =>
      val base = bases(slot)
      slot -> reasons(if (base >= 0 && codeOf(base) == Keys.ErrorCode) base else slot)
    }

  /** Fails with what the first rule would have failed with, had Spark evaluated its whole text from left to right. */
  private def requireNoErrors(): Unit = failures().foreach { case (slot, reason) =>
    users(slot).foreach { subscription =>
      // Spark computes constants before it sees a row.
      val isConstant = !slotExpressions(slot).exists(_.isInstanceOf[BoundReference])
      if (isConstant || texts(subscription) < 0) throw new RuleError(ids(subscription).toString, reason)
      try conditions.getOrElseUpdate(subscription, Predicate.create(slotExpressions(texts(subscription)))).eval(row)
      catch { case NonFatal(e) => throw new RuleError(ids(subscription).toString, e) }
    }
  }

  /** Whether a node is true for the last row, whatever its part in a match. */
  def isTrue(node: Int): Boolean = {
    val answer = answers(node)
    if ((answer >> 1) == stamp) (answer & 1) == 1
    else {
      val value = kinds(node) match {
        case Program.Leaf =>
          val code = codeOf(leafSlots(node))
          Codes.contains(intervals.values, intervals.start(node), intervals.end(node), code)
        case Program.And => allTrue(node)
        case _ => anyTrue(node)
      }
      answers(node) = 2 * stamp + (if (value) 1 else 0)
      value
    }
  }

  private def allTrue(node: Int): Boolean = {
    var i = children.start(node)
    val end = children.end(node)
    while (i < end && isTrue(children.values(i))) i += 1
    i == end
  }

  private def anyTrue(node: Int): Boolean = {
    var i = children.start(node)
    val end = children.end(node)
    while (i < end && !isTrue(children.values(i))) i += 1
    i < end
  }

  private def trigger(slot: Int): Unit = {
    val code = codeOf(slot)
    if (code >= 0) {
      val slotTriggers = triggers(slot)
      val points = slotTriggers.points
      if (code < points.size) {
        var i = points.start(code)
        val end = points.end(code)
        while (i < end) { fire(points.values(i)); i += 1 }
      }
      if (code > 0) {
        var i = 0
        while (i < slotTriggers.upTo.length && slotTriggers.upTo(i) >= code) { fire(slotTriggers.upToNodes(i)); i += 1 }
        i = 0
        while (i < slotTriggers.from.length && slotTriggers.from(i) <= code) {
          if (slotTriggers.fromLast(i) >= code) fire(slotTriggers.fromNodes(i))
          i += 1
        }
      }
    }
  }

  /** Takes a node that is true to all that it makes true. */
  private def fire(node: Int): Unit = {
    push(node)
    while (depth > 0) {
      depth -= 1
      val next = stack(depth)
      if (fired(next) != stamp) {
        fired(next) = stamp
        answers(next) = 2 * stamp + 1
        report(next)
        var i = up.start(next)
        val end = up.end(next)
        while (i < end) {
          val parent = up.values(i)
          if (fired(parent) != stamp && (kinds(parent) == Program.Or || isTrue(parent))) push(parent)
          i += 1
        }
      }
    }
  }

  private def push(node: Int): Unit = {
    if (depth == stack.length) stack = Arrays.copyOf(stack, 2 * depth)
    stack(depth) = node
    depth += 1
  }

  private def report(node: Int): Unit = {
    var i = ends.start(node)
    val end = ends.end(node)
    if (count + end - i > found.length) found = Arrays.copyOf(found, 2 * (count + end - i))
    while (i < end) {
      found(count) = ends.values(i)
      count += 1
      i += 1
    }
  }

  /** The code of a slot in the last row. */
  def code(slot: Int): Int = codeOf(slot)

  private def codeOf(slot: Int): Int =
    if (slotStamps(slot) == stamp) slotCodes(slot)
    else {
      val code =
        try {
          if (bases(slot) < 0) readers(slot).read(row) else test(slot, bases(slot))
        } catch {
          // A regular expression can exhaust the stack; the row is lost for this test only.
          case e: StackOverflowError => failed(slot, e)
          case NonFatal(e) => failed(slot, e)
        }
      slotStamps(slot) = stamp
      slotCodes(slot) = code
      code
    }

  /** Tests of a text are unknown where it is NULL, and fail where it fails. */
  private def test(slot: Int, base: Int): Int = {
    val baseCode = codeOf(base)
    if (baseCode <= Keys.NullCode) baseCode
    else {
      operand.update(0, readers(base).value)
      readers(slot).read(operand)
    }
  }

  private def failed(slot: Int, reason: Throwable): Int = {
    reasons(slot) = reason
    errors += 1
    Keys.ErrorCode
  }

  private def forget(): Unit = {
    Seq(slotStamps, answers, fired).foreach(Arrays.fill(_, 0))
    stamp = 1
  }
}

object Matcher {
  private final val LastStamp = Int.MaxValue / 2
}
