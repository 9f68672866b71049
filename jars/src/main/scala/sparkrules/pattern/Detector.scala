package sparkrules.pattern

import java.io.{DataInputStream, DataOutputStream}

import scala.collection.mutable.ArrayBuffer

/**
 * Detects a pattern in the rows of one key: takes events in their order, and is told how far time has come. Detections
 * that follow another too soon are counted and not reported, if the pattern says so.
 */
final class Detector(val pattern: Pattern) {
  private var course = Course.of(pattern)
  private var isSuppressing = false
  private var until, suppressed, first, last = 0L
  private val found = ArrayBuffer.empty[Detection]
  private val report: Detection => Unit = detection => reported(detection)

  /** Takes the next event. */
  def take(event: Event): Unit = {
    passTo(event.time)
    course.take(event, report)
  }

  /** All events up to this time are known. */
  def passed(time: Long): Unit = {
    passTo(Course.later(time, 1))
    if (course.matters != Course.Ago && course.matters <= time) course = Course.of(pattern)
  }

  /** What has been detected since this was last asked. */
  def detections(): Seq[Detection] = {
    val result = found.toVector
    found.clear()
    result
  }

  /** The moment at which something is to be reported, or can be forgotten: nothing needs to be done before. */
  def wakeUp: Long = {
    val forgettable = if (course.matters == Course.Ago) Course.Never else Course.later(course.matters, 1)
    math.min(math.min(course.deadline, if (isSuppressing) until else Course.Never), forgettable)
  }

  /** Whether nothing has to be kept. */
  def isDone: Boolean = !isSuppressing && course.matters == Course.Ago

  /** Passes all deadlines up to a moment, those included: all earlier events are known. */
  private def passTo(moment: Long): Unit = {
    var isPassing = true
    while (isPassing) {
      val deadline = course.deadline
      val ends = if (isSuppressing) until else Course.Never
      if (deadline <= ends && deadline <= moment && deadline != Course.Never) course.pass(report)
      else if (ends <= moment && ends != Course.Never) endSuppression()
      else isPassing = false
    }
  }

  private def reported(detection: Detection): Unit =
    if (pattern.suppress == 0) found += detection
    else if (isSuppressing && detection.end < until) {
      if (suppressed == 0) first = detection.end
      last = detection.end
      suppressed += 1
    } else {
      if (isSuppressing) endSuppression()
      found += detection
      isSuppressing = true
      until = Course.later(detection.end, pattern.suppress)
    }

  private def endSuppression(): Unit = {
    if (suppressed > 0) found += Detection(Detector.Suppressed, first, last, suppressed, Nil)
    isSuppressing = false
    suppressed = 0
  }

  def write(out: DataOutputStream): Unit = {
    out.writeBoolean(isSuppressing)
    Seq(until, suppressed, first, last).foreach(out.writeLong)
    course.write(out)
  }

  def read(in: DataInputStream): Unit = {
    isSuppressing = in.readBoolean()
    until = in.readLong()
    suppressed = in.readLong()
    first = in.readLong()
    last = in.readLong()
    course.read(in)
  }
}

object Detector {

  /** The kind of a row that tells how many detections were not reported. */
  val Suppressed = "suppressed"
}
