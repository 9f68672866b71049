package sparkrules.kernel

import java.util.Arrays

import scala.collection.mutable
import scala.util.control.NonFatal

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{BoundReference, Expression, GenericInternalRow}
import org.apache.spark.sql.vectorized.ColumnarBatch
import org.apache.spark.unsafe.types.UTF8String

import sparkrules.program.{CompiledSlots, Forest}
import sparkrules.text.{TextAnswer, TextScan, TextScanner}
import sparkrules.value.Keys

/** Something that remembers what it computed for a row by the row's stamp. */
private[kernel] trait Stamped {

  /** Forgets all rows: stamps start anew. */
  def forget(): Unit
}

/**
 * The codes of a row's slots, each computed when it is first asked for. Nothing is cleared between rows: a stamp that
 * is not the current row's counts as empty.
 *
 * @param inputs the program's inputs as expressions bound to the rows that come
 * @param nested what reads their arrays, maps and structs
 */
final class SlotCodes(slots: CompiledSlots, inputs: Seq[Expression], nested: NestedValues) {
  private val bases = slots.bases
  private val scans: Array[TextScan] = slots.scans
  private val scanOf = slots.scanOf

  private val shared = new SharedValues(this)

  /** Per slot: the expression that computes it. */
  val expressions: Array[Expression] = slots.copyExpressions().zipWithIndex.map {
    case (e, slot) if bases(slot) >= 0 => e
    case (e, _) =>
      // Inputs have references of their own.
      shared.in(nested.readable(e.transformUp { case BoundReference(i, _, _) => inputs(i) }))
  }
  private val readers: Array[SlotReader] =
    expressions.zip(slots.keys).map { case (expression, keys) => SlotReader(expression, keys) }
  private val operand = new GenericInternalRow(1)

  private var current: InternalRow = _

  /** The number of the current row, which starts anew when there are too many. */
  private[kernel] var stamp = 0
  private val stamped = mutable.ArrayBuffer.empty[Stamped]

  // Per slot, of the last row that asked: the row's stamp above its code.
  private val known = new Array[Long](readers.length)
  private val reasons = new Array[Throwable](readers.length)
  // Per slot whose code is open: the call that it needs.
  private val openCalls = new Array[Int](readers.length)
  private val scanners = scans.map(_.scanner())
  private val memos = scans.map(_ => new StringMemo[TextAnswer])
  private val scanStamps = new Array[Int](scans.length)
  // Per slot that a scan decides: the last row for which the scan left it open.
  private val openStamps = new Array[Int](if (scans.isEmpty) 0 else readers.length)

  // Per slot: the nanoseconds that it took for the current row, if that is asked for.
  private var times: Array[Long] = _

  /** Per slot: how many values could not be computed since this was made. */
  val failures = new Array[Long](readers.length)

  def errors: Long = failures.sum

  // Per slot that Spark computes: the nanoseconds that it has taken since they are measured. See [[RowClock]] for the
  // rows that are timed, and what they count for.
  private var spent: Array[Long] = _
  private var weight = 0L
  private lazy val isFallible = {
    val own = new Array[Boolean](readers.length)
    slots.fallible.foreach(own(_) = true)
    own
  }

  /** Of the nanoseconds that are measured: those in Python functions. */
  var spentInPython = 0L

  def row: InternalRow = current

  /** Before any row of a batch is read. */
  private[kernel] def startBatch(batch: ColumnarBatch): Unit = {
    nested.startBatch()
    readers.foreach(_.startBatch(batch))
  }

  /** Before rows that are not those of a batch, where batches may have come already. */
  private[kernel] def startRows(): Unit = readers.foreach(_.startRows())

  /** Makes codes those of another row. */
  private[kernel] def startRow(next: InternalRow): Unit = {
    current = next
    stamp += 1
    if (times != null) Arrays.fill(times, 0)
    if (spent != null) weight = RowClock.weightOf(stamp.toLong)
    if (stamp == SlotCodes.LastStamp) forget()
  }

  /** The code of a slot for the current row. */
  def of(slot: Int): Int = {
    val code = known(slot)
    if ((code >> 32).toInt == stamp) code.toInt else compute(slot)
  }

  /** From now on, per slot, the nanoseconds that it took for the current row; 0 if it was not computed. */
  def time(): Array[Long] = {
    if (times == null) times = new Array[Long](readers.length)
    times
  }

  /** From now on, per slot, an estimate of the nanoseconds that it takes to compute it for all rows. */
  def measure(): Array[Long] = {
    if (spent == null && slots.fallible.nonEmpty) spent = new Array[Long](readers.length)
    if (spent == null) Array.emptyLongArray else spent
  }

  /** Why the code of a slot is [[Keys.ErrorCode]] for the current row. */
  def reason(slot: Int): Throwable = {
    val base = bases(slot)
    reasons(if (base >= 0 && of(base) == Keys.ErrorCode) base else slot)
  }

  /** The call that must be made before a slot, whose code is [[Keys.OpenCode]], can be computed for the current row. */
  def openCall(slot: Int): Int = {
    val base = bases(slot)
    openCalls(if (base >= 0 && of(base) == Keys.OpenCode) base else slot)
  }

  /** Which nodes of a forest, whose predicates are about these slots, are true. */
  def truthOf(forest: Forest): Truth = {
    val truth = new Truth(forest, this)
    stamped += truth
    truth
  }

  /** What is known of the nodes of such a forest while calls are open. */
  def partialTruthOf(forest: Forest): PartialTruth = {
    val truth = new PartialTruth(forest, this)
    stamped += truth
    truth
  }

  private[kernel] def forgetWith(other: Stamped): Unit = stamped += other

  /** Scans a string, once per row; null if there is none. */
  private[kernel] def scanned(scan: Int): TextScanner = {
    val base = bases(scans(scan).covered(0))
    if (of(base) <= Keys.NullCode) null
    else {
      val scanner = scanners(scan)
      if (scanStamps(scan) != stamp) {
        scanStamps(scan) = stamp
        search(scanner, memos(scan), readers(base).value(current).asInstanceOf[UTF8String])
        var i = 0
        while (i < scanner.decidedCount) { remember(scanner.decided(i), Keys.TrueCode); i += 1 }
        i = 0
        while (i < scanner.openCount) { openStamps(scanner.open(i)) = stamp; i += 1 }
      }
      scanner
    }
  }

  private def search(scanner: TextScanner, memo: StringMemo[TextAnswer], text: UTF8String): Unit = {
    val known = memo.get(text)
    if (known != null) scanner.restore(known)
    else {
      scanner.scan(text)
      if (scanner.decidedCount + scanner.openCount <= SlotCodes.MostRemembered) memo.put(text, scanner.answer)
    }
  }

  private def compute(slot: Int): Int = {
    val code =
      try {
        if (bases(slot) < 0) read(slot, current) else search(slot, bases(slot))
      } catch {
        case open: OpenCall =>
          openCalls(slot) = open.call
          Keys.OpenCode
        // A regular expression can exhaust the stack, a function the heap: only this predicate is lost for the row.
        case e @ (_: StackOverflowError | _: OutOfMemoryError) => failed(slot, e)
        case NonFatal(e) => failed(slot, e)
      }
    remember(slot, code)
    code
  }

  private def read(slot: Int, input: InternalRow): Int =
    if (times == null && (weight == 0L || !isFallible(slot))) readers(slot).read(input)
    else {
      val start = System.nanoTime
      try readers(slot).read(input)
      finally spend(slot, math.max(1, System.nanoTime - start), inPython(slot))
    }

  private def spend(slot: Int, own: Long, python: Long): Unit = {
    if (times != null) times(slot) = own + python
    if (spent != null) {
      spent(slot) += weight * (own + python)
      spentInPython += weight * python
    }
  }

  // Per slot: the calls of Python functions that it may need.
  private lazy val calls = expressions.map(_.collect { case CallResult(call, _, _) => call }.toArray)

  private def inPython(slot: Int): Long = current match {
    case asked: AskedRow => calls(slot).map(asked.nanoseconds(_)).sum
    case _ => 0L
  }

  private def remember(slot: Int, code: Int): Unit = known(slot) = (stamp.toLong << 32) | (code & 0xffffffffL)

  /** Searches of a string are unknown where it is NULL, and fail where it fails. */
  private def search(slot: Int, base: Int): Int = {
    val baseCode = of(base)
    val scan = scanOf(slot)
    if (baseCode <= Keys.NullCode) baseCode
    else if (scan >= 0 && scanned(scan) != null && openStamps(slot) != stamp) {
      if ((known(slot) >> 32).toInt == stamp) known(slot).toInt else Keys.FalseCode
    } else {
      operand.update(0, readers(base).value(current))
      read(slot, operand)
    }
  }

  private def failed(slot: Int, reason: Throwable): Int = {
    reasons(slot) = reason
    failures(slot) += 1
    Keys.ErrorCode
  }

  private def forget(): Unit = {
    Arrays.fill(known, 0L)
    Seq(scanStamps, openStamps).foreach(Arrays.fill(_, 0))
    shared.forget()
    stamped.foreach(_.forget())
    stamp = 1
  }
}

object SlotCodes {
  // Predicates that are true or open for a string: more are not worth their memory.
  private val MostRemembered = 64
  private final val LastStamp = Int.MaxValue / 2
}
