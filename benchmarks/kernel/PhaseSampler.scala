package sparkrules

import scala.collection.mutable

/**
 * Where the time of a query goes: looks at the stacks of its threads at intervals. A cold JVM cannot be measured twice,
 * and steps that are called one by one would warm each other up. Called from Python.
 *
 * @param phases a name, and how the names of classes begin that belong to it
 */
final class PhaseSampler(phases: Seq[(String, Seq[String])], milliseconds: Long) extends Thread("phase sampler") {
  setDaemon(true)
  private val (counts, places) = (mutable.HashMap.empty[String, Double], mutable.HashMap.empty[String, Double])
  @volatile private var isOn = true

  override def run(): Unit = {
    var last = System.nanoTime
    while (isOn) {
      Thread.sleep(milliseconds)
      val stacks = Thread.getAllStackTraces
      val now = System.nanoTime
      val seconds = (now - last) / 1e9
      last = now
      val found = mutable.ArrayBuffer.empty[(String, String)]
      stacks.forEach { (thread, stack) =>
        if ((thread ne this) && thread.getState == Thread.State.RUNNABLE) phaseOf(stack).foreach(found += _)
      }
      // The wall-clock time, shared by all that run.
      synchronized {
        if (found.isEmpty) add(counts, "waiting", seconds)
        found.foreach { case (phase, place) =>
          add(counts, phase, seconds / found.length)
          add(places, s"$phase: $place", seconds / found.length)
        }
      }
    }
  }

  private def add(sums: mutable.Map[String, Double], name: String, seconds: Double): Unit =
    sums(name) = sums.getOrElse(name, 0.0) + seconds

  /** The phase of the innermost frame that has one. A frame of a query's or a task's own thread always has one. */
  private def phaseOf(stack: Array[StackTraceElement]): Option[(String, String)] = {
    val own = stack.iterator.flatMap { frame =>
      phases.collectFirst { case (name, classes) if classes.exists(frame.getClassName.startsWith) => (name, frame) }
    }.nextOption()
    own.map { case (name, frame) => (name, callers(frame, stack)) }
  }

  /** A frame, and those of sparkrules that led to it. */
  private def callers(frame: StackTraceElement, stack: Array[StackTraceElement]): String = {
    val from =
      stack.iterator.dropWhile(_ ne frame).filter(f => (f eq frame) || f.getClassName.startsWith("sparkrules."))
    from.map(f => s"${f.getClassName.split('.').last}.${f.getMethodName}:${f.getLineNumber}").mkString(" < ")
  }

  /** Stops; the seconds of each phase, one to a line. */
  def end(): String = {
    isOn = false
    join()
    lines(counts)
  }

  /** The seconds of each line of the source that was the innermost of its phase. */
  def lines(): String = lines(places)

  private def lines(sums: mutable.Map[String, Double]): String =
    synchronized(sums.toSeq.sortBy(-_._2).map { case (name, seconds) => f"$seconds%.3f $name" }.mkString("\n"))
}

object PhaseSampler {

  /** @param phases per line: a name, and how classes begin, after tabs */
  def started(phases: String, milliseconds: Long): PhaseSampler = {
    val split = phases.linesIterator.map(_.split('\t').toSeq).map(parts => parts.head -> parts.tail).toSeq
    val sampler = new PhaseSampler(split, milliseconds)
    sampler.start()
    sampler
  }
}
