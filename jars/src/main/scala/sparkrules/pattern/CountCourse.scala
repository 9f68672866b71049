package sparkrules.pattern

import java.io.{DataInputStream, DataOutputStream}
import java.util.LinkedHashMap

import scala.collection.mutable
import scala.jdk.CollectionConverters._

/** So many rows: it keeps the last of them. */
private[pattern] final class CountCourse(pattern: Pattern) extends Course {
  private val last = mutable.ArrayDeque.empty[Event]

  override def take(event: Event, report: Detection => Unit): Unit = {
    last += event
    val oldest = Course.earlier(event.time, pattern.within)
    while (last.length > pattern.atLeast || last.head.time < oldest) last.removeHead()
    if (last.length == pattern.atLeast) {
      report(Counted.detection(pattern, last.toIndexedSeq))
      if (!pattern.isOverlapping) last.clear()
    }
  }

  override def matters: Long =
    if (last.isEmpty) Course.Ago else Course.later(last.last.time, pattern.within)

  override def write(out: DataOutputStream): Unit = Counted.write(out, last.length, last.iterator)
  override def read(in: DataInputStream): Unit = last ++= Counted.read(in)
}

/** So many values: it keeps the last row of each. */
private[pattern] final class DistinctCourse(pattern: Pattern) extends Course {
  private val last = new LinkedHashMap[String, Event] // the value that was not seen for the longest time first

  override def take(event: Event, report: Detection => Unit): Unit = {
    last.remove(event.value)
    last.put(event.value, event)
    val oldest = Course.earlier(event.time, pattern.within)
    val kept = last.values.iterator
    var isOld = true
    while (isOld && kept.hasNext) {
      isOld = kept.next().time < oldest || last.size > pattern.atLeast
      if (isOld) kept.remove()
    }
    if (last.size == pattern.atLeast) {
      report(Counted.detection(pattern, last.values.asScala.toIndexedSeq))
      if (!pattern.isOverlapping) last.clear()
    }
  }

  override def matters: Long =
    last.values.asScala.iterator.map(_.time).maxOption.fold(Course.Ago)(Course.later(_, pattern.within))

  override def write(out: DataOutputStream): Unit = Counted.write(out, last.size, last.values.asScala.iterator)
  override def read(in: DataInputStream): Unit = Counted.read(in).foreach(event => last.put(event.value, event))
}

private object Counted {
  def detection(pattern: Pattern, rows: IndexedSeq[Event]): Detection =
    Detection(pattern.kind.name, rows.head.time, rows.last.time, rows.length.toLong, rows.map(StepRow(0, _)))

  def write(out: DataOutputStream, count: Int, events: Iterator[Event]): Unit = {
    out.writeInt(count)
    events.foreach(_.write(out))
  }

  def read(in: DataInputStream): Seq[Event] = Seq.fill(in.readInt())(Event.read(in))
}
