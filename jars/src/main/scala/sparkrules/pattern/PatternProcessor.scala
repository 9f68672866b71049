package sparkrules.pattern

import java.io.{ByteArrayInputStream, ByteArrayOutputStream, DataInputStream, DataOutputStream}

import org.apache.spark.sql.{Encoders, Row}
import org.apache.spark.sql.streaming._

/**
 * Detects patterns in a stream. Rows wait in the state until the watermark has passed them, and are then taken in the
 * order of their times, whatever the order in which they have arrived: so a stream detects what a batch would.
 *
 * A key has one timer, at the earliest moment at which something is to be done: rows to be taken, an absence to be
 * reported, a state to be forgotten.
 *
 * @param mostWaiting how many rows may wait for the watermark per key; others are dropped and counted
 */
final case class PatternProcessor(patterns: Patterns, rows: Detections, mostWaiting: Long)
    extends StatefulProcessor[String, Row, Row] {
  import PatternProcessor._

  @transient private var state: ValueState[Array[Byte]] = _
  @transient private var waiting: ListState[Array[Byte]] = _

  override def init(outputMode: OutputMode, timeMode: TimeMode): Unit = {
    state = getHandle.getValueState[Array[Byte]]("state", Encoders.BINARY, TTLConfig.NONE)
    waiting = getHandle.getListState[Array[Byte]]("waiting", Encoders.BINARY, TTLConfig.NONE)
  }

  override def handleInputRows(text: String, input: Iterator[Row], timers: TimerValues): Iterator[Row] =
    if (patterns.of(PatternKey.read(text)).isEmpty) Iterator.empty
    else {
      val head = Head.read(state.get())
      val bytes = new ByteArrayOutputStream
      val out = new DataOutputStream(bytes)
      var earliest = Course.Never
      input.foreach { row =>
        if (head.waiting >= mostWaiting) head.dropped += 1
        else {
          val event = rows.event(row)
          head.waiting += 1
          earliest = math.min(earliest, event.time)
          event.write(out)
        }
      }
      if (bytes.size > 0) waiting.appendValue(bytes.toByteArray)
      if (earliest != Course.Never) setTimer(head, math.min(head.timer, Milliseconds.until(earliest)))
      state.update(head.write())
      Iterator.empty
    }

  override def handleExpiredTimer(text: String, timers: TimerValues, expired: ExpiredTimerInfo): Iterator[Row] = {
    val head = Head.read(state.get())
    head.timer = Course.Never // Spark removes the timer that has expired
    val key = PatternKey.read(text)
    patterns.of(key) match {
      case None => // removed or changed: what it has seen is of no use
        forget()
        Iterator.empty
      case Some(pattern) =>
        val passed = timers.getCurrentWatermarkInMs() * 1000
        val (due, later) = waitingEvents(head).partition(_.time <= passed)
        val detector = head.detector(pattern)
        due.sorted(Event.order).foreach(detector.take)
        detector.passed(passed)
        val found = detector.detections() ++ head.overflow(passed)
        if (later.isEmpty && detector.isDone) forget()
        else {
          if (due.nonEmpty) keep(later)
          head.waiting = later.length.toLong
          head.detection = bytesOf(detector.write)
          val next = (Milliseconds.until(detector.wakeUp - 1) +: later.map(e => Milliseconds.until(e.time))).min
          val now = timers.getCurrentWatermarkInMs()
          // Spark deletes the timer that has expired only now: one at the same moment would be gone with it.
          setTimer(head, math.min(math.max(next, now + 1), now + LongestSleep))
          state.update(head.write())
        }
        found.iterator.map(rows.row(pattern, key, _))
    }
  }

  private def waitingEvents(head: Head): IndexedSeq[Event] =
    if (head.waiting == 0) IndexedSeq.empty
    else waiting.get().flatMap { bytes =>
      val in = new DataInputStream(new ByteArrayInputStream(bytes))
      Iterator.continually(in).takeWhile(_.available > 0).map(Event.read)
    }.toIndexedSeq

  private def keep(events: Seq[Event]): Unit =
    if (events.isEmpty) waiting.clear()
    else waiting.put(Array(bytesOf(out => events.foreach(_.write(out)))))

  private def forget(): Unit = {
    waiting.clear()
    state.clear()
  }

  /** @param moment in milliseconds; `Never` for none */
  private def setTimer(head: Head, moment: Long): Unit = if (moment != head.timer) {
    if (head.timer != Course.Never) getHandle.deleteTimer(head.timer)
    if (moment != Course.Never) getHandle.registerTimer(moment)
    head.timer = moment
  }
}

object PatternProcessor {

  private def bytesOf(write: DataOutputStream => Unit): Array[Byte] = {
    val bytes = new ByteArrayOutputStream
    write(new DataOutputStream(bytes))
    bytes.toByteArray
  }

  /** The timers and the watermark of Spark are milliseconds. */
  private object Milliseconds {

    /** The first watermark that says that all events up to this time are known. */
    def until(micros: Long): Long =
      if (micros >= Course.Never - 1) Course.Never else -Math.floorDiv(-micros, 1000L)
  }

  /**
   * What is kept of a key beside the rows that wait.
   *
   * @param timer when the key is looked at again, in milliseconds
   * @param waiting how many rows wait
   * @param dropped how many rows had no place
   * @param detection the state of the detector; empty if it has none
   */
  private final class Head(var timer: Long, var waiting: Long, var dropped: Long, var detection: Array[Byte]) {

    def detector(pattern: Pattern): Detector = {
      val detector = new Detector(pattern)
      if (detection.nonEmpty) detector.read(new DataInputStream(new ByteArrayInputStream(detection)))
      detector
    }

    /** Tells of dropped rows, once. */
    def overflow(time: Long): Option[Detection] = Option.when(dropped > 0) {
      val count = dropped
      dropped = 0
      Detection(Overflow, time, time, count, Nil)
    }

    def write(): Array[Byte] = bytesOf { out =>
      out.writeByte(Format)
      Seq(timer, waiting, dropped).foreach(out.writeLong)
      out.write(detection)
    }
  }

  private object Head {
    def read(bytes: Array[Byte]): Head =
      if (bytes == null) new Head(Course.Never, 0, 0, Array.emptyByteArray)
      else {
        val in = new DataInputStream(new ByteArrayInputStream(bytes))
        val format = in.readByte()
        if (format != Format) throw new IllegalStateException(s"the state of a pattern has the unknown format $format")
        new Head(in.readLong(), in.readLong(), in.readLong(), in.readAllBytes())
      }
  }

  private val Format = 1

  // In milliseconds, a day: what is kept of a pattern that is no more is found when its key wakes up.
  private val LongestSleep = 24L * 60 * 60 * 1000

  /** The kind of a row that tells how many rows were dropped. */
  private val Overflow = "overflow"
}
