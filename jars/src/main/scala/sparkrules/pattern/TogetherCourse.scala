package sparkrules.pattern

import java.io.{DataInputStream, DataOutputStream}

/** Steps in any order: it keeps the last row of each. A row may fulfil several. */
private[pattern] final class TogetherCourse(pattern: Pattern) extends Course {
  private val last = new Array[Event](pattern.steps.length)

  override def take(event: Event, report: Detection => Unit): Unit = {
    for (step <- last.indices if event.fulfils(step)) last(step) = event
    val oldest = Course.earlier(event.time, pattern.within)
    if (last.forall(own => own != null && own.time >= oldest)) {
      report(Detection(
        pattern.kind.name, last.iterator.map(_.time).min, event.time, distinct.length.toLong,
        last.indices.map(step => StepRow(step, last(step)))))
      if (!pattern.isOverlapping) java.util.Arrays.fill(last.asInstanceOf[Array[AnyRef]], null)
    }
  }

  /** The rows, each once. Rows with the same content are different rows. */
  private def distinct: Seq[Event] = {
    val seen = new java.util.IdentityHashMap[Event, AnyRef]
    last.toSeq.filter(own => own != null && seen.put(own, own) == null)
  }

  override def matters: Long =
    last.iterator.filter(_ != null).map(own => Course.later(own.time, pattern.within)).maxOption.getOrElse(Course.Ago)

  override def write(out: DataOutputStream): Unit = {
    val rows = distinct
    out.writeInt(rows.length)
    rows.foreach(_.write(out))
    last.foreach(own => out.writeByte(rows.indexWhere(_ eq own)))
  }

  override def read(in: DataInputStream): Unit = {
    val rows = IndexedSeq.fill(in.readInt())(Event.read(in))
    last.indices.foreach { step =>
      val row = in.readByte().toInt
      if (row >= 0) last(step) = rows(row)
    }
  }
}
