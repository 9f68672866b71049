package sparkrules.pattern

import java.io.{DataInputStream, DataOutputStream}

/**
 * How far the rows of one key have come with a pattern. Events are taken in their order; what is kept of them is
 * bounded by the pattern, and is forgotten when the pattern's time has passed.
 *
 * Each kind has its own, and docs/patterns.md defines what it detects.
 */
abstract class Course {

  /** Looks at the next event, and reports what it completes. */
  def take(event: Event, report: Detection => Unit): Unit

  /** When something is to be reported if nothing happens before: at the first moment at which that is certain. */
  def deadline: Long = Course.Never

  /** That moment has come. */
  def pass(report: Detection => Unit): Unit = ()

  /** The last moment at which what is kept can matter: `Ago` if nothing is kept. */
  def matters: Long

  def write(out: DataOutputStream): Unit
  def read(in: DataInputStream): Unit
}

object Course {
  val Never: Long = Long.MaxValue
  val Ago: Long = Long.MinValue

  /** How many rows a pattern may keep for a key. Python refuses patterns that would need more. */
  val MostRows = 10000

  def of(pattern: Pattern): Course = pattern.kind match {
    case Kind.Sequence => new SequenceCourse(pattern)
    case Kind.Together => new TogetherCourse(pattern)
    case Kind.Count if pattern.distinct.isDefined => new DistinctCourse(pattern)
    case Kind.Count => new CountCourse(pattern)
    case Kind.Absence => new AbsenceCourse(pattern)
    case Kind.Change => new ChangeCourse(pattern)
    case Kind.Match => new MatchCourse(pattern)
  }

  /** Later, by a span; not beyond what a number can hold. */
  def later(time: Long, span: Long): Long = {
    val sum = time + span
    if (span > 0 && sum < time) Never else sum
  }

  /** Earlier, by a span. */
  def earlier(time: Long, span: Long): Long = {
    val difference = time - span
    if (span > 0 && difference > time) Ago else difference
  }
}
