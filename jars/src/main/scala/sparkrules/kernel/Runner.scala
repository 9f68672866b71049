package sparkrules.kernel

import java.util.Arrays

import scala.collection.mutable
import scala.util.control.NonFatal

import org.apache.spark.sparkrules.RuleError
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{
  BasePredicate, BoundReference, Expression, GenericInternalRow, Predicate
}
import org.apache.spark.sql.vectorized.ColumnarBatch
import org.apache.spark.unsafe.types.UTF8String

import sparkrules.program.{Dense, Forest, Op, Program}
import sparkrules.value.{Codes, Keys, SmallInts}

/**
 * Matches rows against a [[Program]]: what changes from row to row, one for each task. Nothing is cleared between rows:
 * a stamp that is not the current row's counts as empty.
 *
 * @param inputs the program's inputs as expressions bound to the rows that come
 * @param hidden the subscriptions that do not take part, as [[Hidden]] gives them
 * @param top how many matches are wanted, the first in their order
 */
final class Runner(
    val program: Program, inputs: Seq[Expression], hidden: Array[Long] = null, top: Int = Int.MaxValue) {
  import program._

  private val slotExpressions: Array[Expression] = copyExpressions().zipWithIndex.map {
    case (e, slot) if bases(slot) >= 0 => e
    case (e, _) => e.transformUp { case BoundReference(i, _, _) => inputs(i) } // inputs have references of their own
  }
  private val readers: Array[SlotReader] =
    slotExpressions.zip(keys).map { case (expression, slotKeys) => SlotReader(expression, slotKeys) }
  private val operand = new GenericInternalRow(1)
  private val instructions = program.code

  private var row: InternalRow = _

  /** The number of the last row, which starts anew when there are too many. */
  var stamp = 0
  // Per slot, of the last row that asked: the row's stamp above its code.
  private val slotCodes = new Array[Long](readers.length)
  private val reasons = new Array[Throwable](readers.length)
  private val scanners = scans.map(_.scanner())
  private val scanStamps = new Array[Int](scans.length)
  // Per slot that a scan decides: the last row for which the scan left it open.
  private val openStamps = new Array[Int](if (scans.isEmpty) 0 else readers.length)
  private val truths = mutable.ArrayBuffer.empty[Truth]
  private val truth = truthOf(program.shared)
  private val reported = new Array[Int](if (hasRepeats) subscriptions else 0)
  private var returns = new Array[Int](16)
  private var found = new Array[Int](64)

  /** The subscriptions that match the last row: `matched(0)` until `matched(count)`, in no order until `sort()`. */
  var count = 0
  private var unsorted = 0
  def matched: Array[Int] = found

  /**
   * Since this matcher was made: values that could not be computed; conditions that were tested; and those of them that
   * were true, so that what depends on them was looked at.
   */
  var errors = 0L
  var tests = 0L
  var candidates = 0L

  /** To be called before the rows of a batch are run. */
  def startBatch(batch: ColumnarBatch): Unit = readers.foreach(_.startBatch(batch))

  /** How many rows must be announced before they are run: some rules are evaluated for all of them at once. */
  def chunk: Int = if (dense.isEmpty) 0 else Dense.Rows

  private lazy val denseMatcher = new DenseRunner(dense, this)
  private var position = 0

  /** To be called, if there are chunks, before these rows are run one after the other. */
  def startChunk(rows: Int, at: Int => InternalRow): Unit = {
    denseMatcher.evaluate(rows, at)
    position = 0
  }

  /** Makes codes those of another row. */
  def look(next: InternalRow): Unit = {
    row = next
    stamp += 1
    if (times != null) Arrays.fill(times, 0)
    if (stamp == Runner.LastStamp) forget()
  }

  def run(next: InternalRow): Unit = {
    look(next)
    count = 0
    if (isSimple) execute(0) else executeBands()
    unsorted = count
    if (!dense.isEmpty) collectDense()
    if (count > top) cut()
  }

  private val isSimple = bands.length == 1 && hidden == null

  /** One band after the other, until there are enough. */
  private def executeBands(): Unit = {
    var band = 0
    while (band < bands.length && count < top) {
      val before = count
      execute(bands(band))
      hideFrom(before)
      band += 1
    }
  }

  private def collectDense(): Unit = {
    val most = count + dense.subscriptions.length
    if (found.length < most) found = Arrays.copyOf(found, most)
    count = denseMatcher.collect(position, found, count)
    position += 1
    hideFrom(unsorted)
  }

  private def cut(): Unit = {
    sort()
    count = top
    unsorted = 0
  }

  def isHidden(subscription: Int): Boolean =
    hidden != null && (hidden(subscription >> 6) & (1L << subscription)) != 0

  private def hideFrom(start: Int): Unit = if (hidden != null) {
    var kept = start
    var i = start
    while (i < count) {
      if (!isHidden(found(i))) { found(kept) = found(i); kept += 1 }
      i += 1
    }
    count = kept
  }

  private def execute(start: Int): Unit = {
    val code = instructions
    var pc = start
    var depth = 0
    var (looks, passed) = (0, 0)
    while (pc >= 0) {
      val word = code(pc)
      val slot = word >>> Op.Bits
      (word & Op.Mask) match {
        case Op.Return =>
          depth -= 1
          pc = if (depth < 0) -1 else returns(depth)
        case Op.Jump => pc = code(pc + 1)
        case Op.Call =>
          depth = push(depth, pc + 2)
          pc = code(pc + 1)
        case Op.EqualElse =>
          looks += 1
          if (this.code(slot) == code(pc + 1)) { passed += 1; pc += 3 } else pc = code(pc + 2)
        case Op.UpToElse =>
          looks += 1
          val value = this.code(slot)
          if (value >= 1 && value <= code(pc + 1)) { passed += 1; pc += 3 } else pc = code(pc + 2)
        case Op.FromElse =>
          looks += 1
          if (this.code(slot) >= code(pc + 1)) { passed += 1; pc += 3 } else pc = code(pc + 2)
        case Op.InElse =>
          looks += 1
          val value = this.code(slot)
          if (value >= code(pc + 1) && value <= code(pc + 2)) { passed += 1; pc += 4 } else pc = code(pc + 3)
        case Op.SetElse =>
          looks += 1
          if (isIn(slot, code(pc + 1))) { passed += 1; pc += 3 } else pc = code(pc + 2)
        case Op.NodeElse =>
          looks += 1
          if (truth.of(shared.roots(slot))) { passed += 1; pc += 2 } else pc = code(pc + 1)
        case Op.EqualThen =>
          looks += 1
          pc = if (this.code(slot) == code(pc + 1)) code(pc + 2) else pc + 3
        case Op.InThen =>
          looks += 1
          val value = this.code(slot)
          pc = if (value >= code(pc + 1) && value <= code(pc + 2)) code(pc + 3) else pc + 4
        case Op.SetThen =>
          looks += 1
          pc = if (isIn(slot, code(pc + 1))) code(pc + 2) else pc + 3
        case Op.NodeThen =>
          looks += 1
          pc = if (truth.of(shared.roots(slot))) code(pc + 1) else pc + 2
        case Op.EqualEmit =>
          looks += 1
          passed += reportIf(this.code(slot) == code(pc + 1), code(pc + 2))
          pc += 3
        case Op.UpToEmit =>
          looks += 1
          val value = this.code(slot)
          passed += reportIf(value >= 1 && value <= code(pc + 1), code(pc + 2))
          pc += 3
        case Op.FromEmit =>
          looks += 1
          passed += reportIf(this.code(slot) >= code(pc + 1), code(pc + 2))
          pc += 3
        case Op.InEmit =>
          looks += 1
          val value = this.code(slot)
          passed += reportIf(value >= code(pc + 1) && value <= code(pc + 2), code(pc + 3))
          pc += 4
        case Op.Emit =>
          val n = code(pc + 1)
          report(pc + 2, n)
          pc += 2 + n
        case Op.EmitOnce =>
          val n = code(pc + 1)
          reportOnce(pc + 2, n)
          pc += 2 + n
        case Op.UpTo =>
          looks += 1
          val n = code(pc + 1)
          report(pc + 2 + n, upTo(this.code(slot), pc + 2, n))
          pc += 2 + 2 * n
        case Op.UpToOnce =>
          looks += 1
          val n = code(pc + 1)
          reportOnce(pc + 2 + n, upTo(this.code(slot), pc + 2, n))
          pc += 2 + 2 * n
        case Op.From =>
          looks += 1
          val n = code(pc + 1)
          report(pc + 2 + n, from(this.code(slot), pc + 2, n))
          pc += 2 + 2 * n
        case Op.FromOnce =>
          looks += 1
          val n = code(pc + 1)
          reportOnce(pc + 2 + n, from(this.code(slot), pc + 2, n))
          pc += 2 + 2 * n
        case Op.Switch =>
          looks += 1
          val place = (this.code(slot) >> code(pc + 1)) - code(pc + 2)
          if (place >= 0 && place < code(pc + 3)) { passed += 1; pc = code(pc + 5 + place) } else pc = code(pc + 4)
        case Op.Search =>
          looks += 1
          val n = code(pc + 2)
          val wanted = this.code(slot) >> code(pc + 1)
          val place = lastUpTo(wanted, pc + 4, n)
          if (code(place) == wanted) { passed += 1; pc = code(place + n) } else pc = code(pc + 3)
        case Op.Scan =>
          looks += 1
          depth = pushHits(slot, pc + 2, code(pc + 1), depth) - 1
          pc = returns(depth)
      }
    }
    tests += looks
    candidates += passed
  }

  private def push(depth: Int, target: Int): Int = {
    if (depth == returns.length) returns = Arrays.copyOf(returns, 2 * depth)
    returns(depth) = target
    depth + 1
  }

  /**
   * Makes what follows a scan, and before it the targets of all slots that it finds true, the next places to return to.
   */
  private def pushHits(scan: Int, place: Int, n: Int, depth: Int): Int = {
    var next = push(depth, place + 2 * n)
    if (isScanned(scan)) {
      val scanner = scanners(scan)
      var i = 0
      while (i < scanner.decidedCount) { next = pushHit(scanner.decided(i), place, n, next); i += 1 }
      i = 0
      while (i < scanner.openCount) {
        val slot = scanner.open(i)
        if (Arrays.binarySearch(instructions, place, place + n, slot) >= 0 && code(slot) == Keys.TrueCode) {
          next = pushHit(slot, place, n, next)
        }
        i += 1
      }
    }
    next
  }

  private def pushHit(slot: Int, place: Int, n: Int, depth: Int): Int = {
    val found = Arrays.binarySearch(instructions, place, place + n, slot)
    if (found >= 0) push(depth, instructions(found + n)) else depth
  }

  /** Has a text scanned, once per row; false if there is none. */
  private def isScanned(scan: Int): Boolean = {
    val base = bases(scans(scan).covered(0))
    code(base) > Keys.NullCode && {
      if (scanStamps(scan) != stamp) {
        scanStamps(scan) = stamp
        val scanner = scanners(scan)
        scanner.scan(readers(base).value(row).asInstanceOf[UTF8String])
        var i = 0
        while (i < scanner.decidedCount) { remember(scanner.decided(i), Keys.TrueCode); i += 1 }
        i = 0
        while (i < scanner.openCount) { openStamps(scanner.open(i)) = stamp; i += 1 }
      }
      true
    }
  }

  private def isIn(slot: Int, set: Int): Boolean =
    Codes.contains(sets.values, sets.start(set), sets.end(set), code(slot))

  /** How many of the `n` descending bounds at `place` are not below the code of a value. */
  private def upTo(value: Int, place: Int, n: Int): Int =
    if (value < 1) 0
    else {
      var (low, high) = (0, n)
      while (low < high) {
        val middle = (low + high) >>> 1
        if (instructions(place + middle) >= value) low = middle + 1 else high = middle
      }
      low
    }

  /** How many of the `n` ascending bounds at `place` are not above the code of a value. */
  private def from(value: Int, place: Int, n: Int): Int = {
    var (low, high) = (0, n)
    while (low < high) {
      val middle = (low + high) >>> 1
      if (instructions(place + middle) <= value) low = middle + 1 else high = middle
    }
    low
  }

  /** The place of the last of `n` ascending values, at least one, that is not above `wanted`; or the first. */
  private def lastUpTo(wanted: Int, place: Int, n: Int): Int = {
    var base = place
    var rest = n
    while (rest > 1) { // written so that the compiler makes conditional moves
      val half = rest >>> 1
      base = if (instructions(base + half) <= wanted) base + half else base
      rest -= half
    }
    base
  }

  private def reportIf(isTrue: Boolean, subscription: Int): Int = {
    if (count == found.length) found = Arrays.copyOf(found, 2 * count)
    found(count) = subscription // counts only if it is true: a branch less to predict wrongly
    val n = if (isTrue) 1 else 0
    count += n
    n
  }

  private def report(place: Int, n: Int): Unit = {
    if (count + n > found.length) found = Arrays.copyOf(found, 2 * (count + n))
    if (n < 8) {
      var i = 0
      while (i < n) { found(count + i) = instructions(place + i); i += 1 }
    } else System.arraycopy(instructions, place, found, count, n)
    count += n
  }

  private def reportOnce(place: Int, n: Int): Unit = {
    if (count + n > found.length) found = Arrays.copyOf(found, 2 * (count + n))
    var i = 0
    while (i < n) {
      val subscription = instructions(place + i)
      if (reported(subscription) != stamp) {
        reported(subscription) = stamp
        found(count) = subscription
        count += 1
      }
      i += 1
    }
  }

  /** Puts what was found in the order in which it is reported. */
  def sort(): Unit = {
    if (unsorted > 1) order.sort(found, unsorted)
    if (unsorted > 0 && unsorted < count) merge()
  }
  private val order = new SmallInts(subscriptions)
  private var merged = new Array[Int](0)

  /** What comes from the dense part is in order already. */
  private def merge(): Unit = {
    if (merged.length < found.length) merged = new Array[Int](found.length)
    var (i, j, next) = (0, unsorted, 0)
    while (i < unsorted && j < count) {
      if (found(i) < found(j)) { merged(next) = found(i); i += 1 } else { merged(next) = found(j); j += 1 }
      next += 1
    }
    System.arraycopy(found, i, merged, next, unsorted - i)
    System.arraycopy(found, j, merged, next, count - j)
    val before = found
    found = merged
    merged = before
    unsorted = 0
  }

  /** The code of a slot for the last row. */
  def code(slot: Int): Int = {
    val known = slotCodes(slot)
    if ((known >> 32).toInt == stamp) known.toInt else compute(slot)
  }

  // Per slot: the nanoseconds that it took for the last row, if that is asked for.
  private var times: Array[Long] = _

  /** From now on, how long it takes to compute slots is noted here for each row. */
  def time(): Array[Long] = {
    times = new Array[Long](readers.length)
    times
  }

  private def compute(slot: Int): Int = {
    val value =
      try {
        if (bases(slot) < 0) read(slot, row) else test(slot, bases(slot))
      } catch {
        // A regular expression can exhaust the stack, a function the heap; the row is lost for this test only.
        case e @ (_: StackOverflowError | _: OutOfMemoryError) => failed(slot, e)
        case NonFatal(e) => failed(slot, e)
      }
    remember(slot, value)
    value
  }

  private def read(slot: Int, input: InternalRow): Int =
    if (times == null) readers(slot).read(input)
    else {
      val start = System.nanoTime
      try readers(slot).read(input)
      finally times(slot) = math.max(1, System.nanoTime - start)
    }

  private def remember(slot: Int, value: Int): Unit = slotCodes(slot) = (stamp.toLong << 32) | (value & 0xffffffffL)

  /** Tests of a text are unknown where it is NULL, and fail where it fails. */
  private def test(slot: Int, base: Int): Int = {
    val baseCode = code(base)
    val scan = scanOf(slot)
    if (baseCode <= Keys.NullCode) baseCode
    else if (scan >= 0 && isScanned(scan) && openStamps(slot) != stamp) {
      if ((slotCodes(slot) >> 32).toInt == stamp) slotCodes(slot).toInt else Keys.FalseCode
    } else {
      operand.update(0, readers(base).value(row))
      read(slot, operand)
    }
  }

  private def failed(slot: Int, reason: Throwable): Int = {
    reasons(slot) = reason
    errors += 1
    Keys.ErrorCode
  }

  /** The slots that cannot be computed for the last row, with the reason: all of them, needed for a match or not. */
  def failures(): Seq[(Int, Throwable)] =
    fallible.toSeq.filter(code(_) == Keys.ErrorCode).map { slot =>
      val base = bases(slot)
      slot -> reasons(if (base >= 0 && code(base) == Keys.ErrorCode) base else slot)
    }

  // Generated as for a WHERE clause: what is evaluated before what, and so what fails, is not quite the same otherwise.
  private val conditions = mutable.HashMap.empty[Int, BasePredicate]

  /** Fails with what the first rule would have failed with, had Spark evaluated its whole text from left to right. */
  def requireNoErrors(forest: Forest): Unit = failures().foreach { case (slot, reason) =>
    forest.users(slot).filterNot(isHidden).foreach { subscription =>
      // Spark computes constants before it sees a row.
      val isConstant = !slotExpressions(slot).exists(_.isInstanceOf[BoundReference])
      if (isConstant || texts(subscription) < 0) throw new RuleError(ids(subscription).toString, reason)
      try conditions.getOrElseUpdate(subscription, Predicate.create(slotExpressions(texts(subscription)))).eval(row)
      catch { case NonFatal(e) => throw new RuleError(ids(subscription).toString, e) }
    }
  }

  /** What is true of a forest whose leaves are tests of this program's slots. */
  def truthOf(forest: Forest): Truth = {
    truths += new Truth(forest, this)
    truths.last
  }

  private def forget(): Unit = {
    Arrays.fill(slotCodes, 0L)
    Seq(scanStamps, openStamps).foreach(Arrays.fill(_, 0))
    Arrays.fill(reported, 0)
    truths.foreach(_.forget())
    stamp = 1
  }
}

object Runner {
  private final val LastStamp = Int.MaxValue / 2
}
