package sparkrules.pattern

import java.io.{DataInputStream, DataOutputStream}

import org.apache.spark.unsafe.types.UTF8String

/**
 * A row that fulfils a step of a pattern.
 *
 * @param time in microseconds
 * @param id what the user calls the row by, null if that was not asked for
 * @param steps the steps that it fulfils, as bits
 * @param value that of the column whose values are counted, or null
 */
final class Event(val time: Long, val id: String, val steps: Long, val value: String) {

  /** @param step from 0 on */
  def fulfils(step: Int): Boolean = (steps >>> step & 1) == 1

  def write(out: DataOutputStream): Unit = {
    out.writeLong(time)
    Event.writeText(out, id)
    out.writeLong(steps)
    Event.writeText(out, value)
  }
}

object Event {

  /** The order in which the events of a key are taken; it does not depend on the order in which they arrive. */
  val order: Ordering[Event] = (a, b) => {
    var result = java.lang.Long.compare(a.time, b.time)
    if (result == 0) result = compare(a.id, b.id)
    if (result == 0) result = java.lang.Long.compare(a.steps, b.steps)
    if (result == 0) result = compare(a.value, b.value)
    result
  }

  /** As Spark sorts strings, NULL first. Java's order of surrogates is another one. */
  private def compare(a: String, b: String): Int =
    if (a == null || b == null) java.lang.Boolean.compare(a != null, b != null)
    else UTF8String.fromString(a).compareTo(UTF8String.fromString(b))

  def read(in: DataInputStream): Event = new Event(in.readLong(), readText(in), in.readLong(), readText(in))

  // Not writeUTF: that is limited to 65,535 bytes.
  private def writeText(out: DataOutputStream, text: String): Unit =
    if (text == null) out.writeInt(-1)
    else {
      val bytes = UTF8String.fromString(text).getBytes
      out.writeInt(bytes.length)
      out.write(bytes)
    }

  private def readText(in: DataInputStream): String = in.readInt() match {
    case -1 => null
    case length => UTF8String.fromBytes(in.readNBytes(length)).toString
  }
}

/** The row of a detection at one of the pattern's steps, counted from 0. */
final case class StepRow(step: Int, event: Event)

/**
 * A pattern found in the rows of a key.
 *
 * @param kind that of the pattern, or `suppressed`
 * @param count how many rows made it, or how many detections were suppressed
 */
final case class Detection(kind: String, start: Long, end: Long, count: Long, rows: Seq[StepRow])
