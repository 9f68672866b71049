package sparkrules.pattern

import java.io.{DataInputStream, DataOutputStream}

/** The first step, and then not the second: it keeps the row that waits. */
private[pattern] final class AbsenceCourse(pattern: Pattern) extends Course {
  private var waiting: Event = _

  override def take(event: Event, report: Detection => Unit): Unit = {
    if (waiting != null && event.fulfils(1) && event.time > waiting.time) waiting = null
    if (waiting == null && event.fulfils(0)) waiting = event
  }

  // A row at the very end of the span still ends the wait.
  override def deadline: Long =
    if (waiting == null) Course.Never else Course.later(Course.later(waiting.time, pattern.within), 1)

  override def pass(report: Detection => Unit): Unit = {
    val end = Course.later(waiting.time, pattern.within)
    report(Detection(pattern.kind.name, waiting.time, end, 1, Seq(StepRow(0, waiting))))
    waiting = null
  }

  override def matters: Long = if (waiting == null) Course.Ago else Course.Never

  override def write(out: DataOutputStream): Unit = {
    out.writeBoolean(waiting != null)
    if (waiting != null) waiting.write(out)
  }

  override def read(in: DataInputStream): Unit = if (in.readBoolean()) waiting = Event.read(in)
}

/**
 * From false, or from nothing, to true: it keeps whether it was true. Rows for which it is unknown are no events. A key
 * for which it was false last is as one that was never seen: only keys for which it is true are kept.
 */
private[pattern] final class ChangeCourse(pattern: Pattern) extends Course {
  private var wasTrue = false

  override def take(event: Event, report: Detection => Unit): Unit =
    if (event.fulfils(0)) {
      if (!wasTrue) report(Detection(pattern.kind.name, event.time, event.time, 1, Seq(StepRow(0, event))))
      wasTrue = true
    } else wasTrue = false

  override def matters: Long = if (wasTrue) Course.Never else Course.Ago
  override def write(out: DataOutputStream): Unit = out.writeBoolean(wasTrue)
  override def read(in: DataInputStream): Unit = wasTrue = in.readBoolean()
}

/** Every row is a detection. */
private[pattern] final class MatchCourse(pattern: Pattern) extends Course {
  override def take(event: Event, report: Detection => Unit): Unit =
    report(Detection(pattern.kind.name, event.time, event.time, 1, Seq(StepRow(0, event))))
  override def matters: Long = Course.Ago
  override def write(out: DataOutputStream): Unit = ()
  override def read(in: DataInputStream): Unit = ()
}
