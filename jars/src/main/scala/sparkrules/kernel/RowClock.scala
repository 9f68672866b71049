package sparkrules.kernel

/**
 * How long rows take, in nanoseconds. Reading the clock takes as long as testing a few predicates. So after the first
 * thousand rows only every 16th is timed, and counts for 16.
 */
final class RowClock(isOn: Boolean = true) {

  // What happens between rows does not count.
  private var (matchTime, writeTime) = (0L, 0L)

  private var rows = 0L
  private var weight = 0L // how many rows the current one counts for

  private[kernel] def nextRow(): Unit = {
    rows += 1
    weight = if (isOn) RowClock.weightOf(rows) else 0L
  }

  /** The time, if the current row is timed. */
  def now(): Long = if (weight == 0L) 0L else System.nanoTime

  /** The row has been matched since `start`. */
  private[kernel] def matched(start: Long): Unit = if (weight > 0L) matchTime += weight * (System.nanoTime - start)

  /** Something has been done for many rows since `start`, before they are matched. */
  private[kernel] def prepared(start: Long): Unit = matchTime += System.nanoTime - start

  /** What was found for the row, or some of it, has been written since `start`. */
  def wrote(start: Long): Unit = if (weight > 0L) writeTime += weight * (System.nanoTime - start)

  /** The time to match rows so far. */
  def matching: Long = matchTime

  /** The time to write what was found so far. */
  def writing: Long = writeTime
}

object RowClock {
  private final val All = 1000L
  private final val Step = 16L

  /** How many rows the one with this number, from 1, counts for. */
  private[kernel] def weightOf(row: Long): Long = if (row <= All) 1L else if (row % Step == 0) Step else 0L

  /** Reads no clock. */
  def off: RowClock = new RowClock(isOn = false)
}
