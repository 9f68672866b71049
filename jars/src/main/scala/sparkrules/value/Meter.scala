package sparkrules.value

import org.apache.spark.TaskContext
import org.apache.spark.sql.internal.SQLConf

import sparkrules.conf.{Setting, Settings}

/** A rule wants more than it may have. Without a trace of the stack, which would cost more than many a value. */
final class Exhausted(message: String) extends RuntimeException(message, null, false, false)

/**
 * What the values of one slot may cost for one row: steps of work, and bytes of intermediate values. What wants more
 * fails, as any other value that cannot be computed. Each time that it does, it may do half as much from then on in
 * this task: a bad rule costs a task what a few rows may cost, and not more.
 */
final class Meter extends Serializable {
  @transient private lazy val mostBytes = Meter.setting(Settings.ValueBytes)
  @transient private var allowed = 0L
  @transient private var (steps, check, bytes) = (0L, 0L, 0L)

  def startRow(): Unit = {
    if (allowed == 0) allowed = Meter.setting(Settings.Steps)
    steps = allowed
    check = steps - Meter.Interval
    bytes = Meter.ValuesOfRow * mostBytes
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

  /** From here on a size is too much, however large it is. */
  def most: Long = mostBytes + 1

  /** To be called with the size of every value that was made. */
  def hold(size: Long): Unit = {
    bytes -= size
    foresee(size)
  }

  /** To be called with the size of a value that could be too large to be made. */
  def foresee(size: Long): Unit = if (size > mostBytes || bytes < 0) {
    throw new Exhausted(s"a value in it has more bytes than ${Settings.ValueBytes.key} allows")
  }
}

object Meter {
  /** What is too little to look at. */
  val Interval: Long = 1L << 20
  // Enough for any search that takes time in proportion to the length of an ordinary text.
  private val LeastSteps = 100000L
  private val ValuesOfRow = 4L

  private def setting(of: Setting): Long = of.number(SQLConf.get)

  private def isCancelled: Boolean =
    Thread.currentThread.isInterrupted || Option(TaskContext.get()).exists(_.isInterrupted())
}
