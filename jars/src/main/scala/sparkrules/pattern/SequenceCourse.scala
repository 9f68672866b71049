package sparkrules.pattern

import java.io.{DataInputStream, DataOutputStream}
import java.util.TreeMap

import scala.jdk.CollectionConverters._

/**
 * Steps that follow each other.
 *
 * For each number of steps it keeps the chains of rows that have come so far. A chain that begins later can be
 * completed for longer, so that one is enough: the one that begins last. Only while chains are younger than `after`
 * they are all needed, since a later one may be too young when an earlier one is completed.
 */
private[pattern] final class SequenceCourse(pattern: Pattern) extends Course {

  // Rows that fulfil the first steps, one each, by the time of the first row.
  private type Chains = TreeMap[java.lang.Long, Vector[Event]]

  private val steps = pattern.steps.length
  private val chains = Array.fill(steps - 1)(new Chains) // at i: those of i + 1 steps
  private val fresh = Array.fill(steps - 1)(new Chains) // those that end at `now`: rows of one time do not follow
  private var now = Course.Ago

  override def take(event: Event, report: Detection => Unit): Unit = {
    if (event.time > now) advance(event.time)
    val completed = event.fulfils(steps - 1) && complete(event, report)
    if (!completed || pattern.isOverlapping) {
      for (step <- steps - 2 to 1 by -1 if event.fulfils(step)) {
        chains(step - 1).forEach((start, rows) => add(step, start, rows :+ event))
      }
      if (event.fulfils(0)) add(0, event.time, Vector(event))
    }
  }

  private def complete(event: Event, report: Detection => Unit): Boolean = {
    val chain = chains(steps - 2).floorEntry(Course.earlier(event.time, pattern.after))
    if (chain != null) {
      val rows = chain.getValue :+ event
      val stepRows = rows.indices.map(step => StepRow(step, rows(step)))
      report(Detection(pattern.kind.name, chain.getKey, event.time, steps.toLong, stepRows))
      if (!pattern.isOverlapping) (chains ++ fresh).foreach(_.clear())
    }
    chain != null
  }

  /** The first chain with a beginning is kept: it leaves most time for the steps to come. */
  private def add(place: Int, start: Long, rows: => Vector[Event]): Unit =
    if (!chains(place).containsKey(start)) fresh(place).computeIfAbsent(start, _ => rows)

  private def advance(time: Long): Unit = {
    now = time
    for (place <- chains.indices; all = chains(place)) {
      all.putAll(fresh(place))
      fresh(place).clear()
      // Of those that are old enough, the last one.
      val old = all.floorKey(Course.earlier(time, pattern.after))
      if (old != null) all.headMap(old).clear()
      all.headMap(Course.earlier(time, pattern.within)).clear()
      while (all.size > Course.MostRows) all.pollFirstEntry()
    }
  }

  override def matters: Long = {
    val starts = (chains ++ fresh).filterNot(_.isEmpty).map(_.lastKey)
    if (starts.isEmpty) Course.Ago else Course.later(starts.max, pattern.within)
  }

  override def write(out: DataOutputStream): Unit = {
    out.writeLong(now)
    (chains ++ fresh).foreach { all =>
      out.writeInt(all.size)
      all.values.asScala.foreach(_.foreach(_.write(out)))
    }
  }

  override def read(in: DataInputStream): Unit = {
    now = in.readLong()
    Seq(chains, fresh).foreach(_.zipWithIndex.foreach { case (all, i) =>
      (0 until in.readInt()).foreach { _ =>
        val rows = Vector.fill(i + 1)(Event.read(in))
        all.put(rows.head.time, rows)
      }
    })
  }
}
