package sparkrules.value

import org.apache.spark.TaskContext
import org.apache.spark.sql.internal.SQLConf

import sparkrules.conf.Settings

/** A rule needs more than it may use. Has no stack trace, which would cost more than many values. */
final class Exhausted(message: String) extends RuntimeException(message, null, false, false)

/**
 * What the values of one slot may cost for one row: steps of work, and bytes of intermediate values. A value that needs
 * more fails, like any other that cannot be computed. Each failure halves the steps that the slot may take in this
 * task, so that a bad rule costs a task no more than a few rows may cost.
 */
final class Meter extends Serializable {
  @transient private lazy val limits = Limits.ofTask()
  @transient private var allowed = 0L
  @transient private var (steps, check, bytes) = (0L, 0L, 0L)

  def startRow(): Unit = {
    if (allowed == 0) allowed = limits.steps
    steps = allowed
    check = steps - Meter.Interval
    bytes = Meter.ValuesOfRow * limits.bytes
  }

  /** One step is about a nanosecond: a character that a regular expression looks at. */
  def spend(count: Long): Unit = {
    steps -= count
    if (steps < check) {
      if (steps < 0) {
        allowed = math.max(allowed / 2, math.min(allowed, Meter.LeastSteps))
        throw new Exhausted(s"it takes more steps than ${Settings.Steps.key} allows")
      }
      if (Meter.isCancelled) throw new Exhausted("the query was cancelled")
      check = steps - Meter.Interval
    }
  }

  /** The least size that is too large. */
  def most: Long = limits.bytes + 1

  /** Counts a value of this size. */
  def hold(size: Long): Unit = {
    bytes -= size
    foresee(size)
  }

  /** Fails if a value of this size would be too large to make. */
  def foresee(size: Long): Unit = if (size > limits.bytes || bytes < 0) {
    throw new Exhausted(s"a value in it has more bytes than ${Settings.ValueBytes.key} allows")
  }
}

object Meter {
  /** After so many steps, check whether the query was cancelled. */
  val Interval: Long = 1L << 20
  // Enough for any search of an ordinary string that takes linear time.
  private val LeastSteps = 100000L
  private val ValuesOfRow = 4L

  private def isCancelled: Boolean =
    Thread.currentThread.isInterrupted || Option(TaskContext.get()).exists(_.isInterrupted())
}

/** What the session allows for one row, and for one value. */
private final class Limits(val steps: Long, val bytes: Long)

private object Limits {
  // A program can have thousands of meters, and a task reads its settings anew each time it is asked for them.
  private val last = new ThreadLocal[(Long, Limits)]

  def ofTask(): Limits = Option(TaskContext.get()).fold(read()) { context =>
    Option(last.get()).collect { case (task, limits) if task == context.taskAttemptId() => limits }.getOrElse {
      val limits = read()
      last.set((context.taskAttemptId(), limits))
      limits
    }
  }

  private def read(): Limits = {
    val conf = SQLConf.get
    new Limits(Settings.Steps.get(conf), Settings.ValueBytes.get(conf))
  }
}
