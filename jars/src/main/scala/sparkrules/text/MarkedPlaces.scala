package sparkrules.text

import java.util.Arrays

import org.apache.spark.unsafe.Platform
import org.apache.spark.unsafe.types.UTF8String

/**
 * Where the marks of a string are: the first place and the last of each. That decides most turns, and rules out most
 * others, without another look at the string.
 */
private[text] final class MarkedPlaces(marks: Marks) {
  import MarkedPlaces._
  import marks._

  private var stamp = 0
  private val stamps = new Array[Int](lengths.length)
  // Per mark: where its first and its last place end.
  private val (firsts, lasts) = (new Array[Int](lengths.length), new Array[Int](lengths.length))

  /** The turns whose rarest string is there: the first `begunCount`. */
  val begun = new Array[Int](predicates.length)
  var begunCount = 0

  def start(next: Int): Unit = {
    stamp = next
    begunCount = 0
  }

  def forget(): Unit = Arrays.fill(stamps, 0)

  /** A mark ends here. Places come from left to right. */
  def note(mark: Int, end: Int): Unit = {
    if (stamps(mark) != stamp) {
      stamps(mark) = stamp
      firsts(mark) = end
      var i = marks.begun.start(mark)
      while (i < marks.begun.end(mark)) {
        begun(begunCount) = marks.begun.values(i)
        begunCount += 1
        i += 1
      }
    }
    lasts(mark) = end
  }

  /** Whether the strings of a turn are there, one after the other. */
  def decide(turn: Int, text: UTF8String): Int = {
    val (from, until) = (inTurn.start(turn), inTurn.end(turn))
    var reached = 0 // no match of the strings so far ends before
    var (areFirst, areSingle) = (true, true)
    var i = from
    while (i < until) {
      val mark = inTurn.values(i)
      if (stamps(mark) != stamp || lasts(mark) - lengths(mark) < reached) return No
      if (firsts(mark) - lengths(mark) < reached) areFirst = false
      if (firsts(mark) != lasts(mark)) areSingle = false
      reached = math.max(firsts(mark), reached + lengths(mark))
      i += 1
    }
    if (!isAll(turn)) Open
    else if (areSingle) between(turn, text)
    else if ((areFirst || until - from == 2) && isLoose(from, until)) Yes
    else Open
  }

  private def isLoose(from: Int, until: Int): Boolean = {
    var i = from + 1
    while (i < until && gaps(gapsBefore(i)) == Gap.Anything) i += 1
    i == until
  }

  /** Whether what lies between the strings may do so, if each has only one place. */
  private def between(turn: Int, text: UTF8String): Int = {
    var (answer, i) = (Yes, inTurn.start(turn) + 1)
    while (answer == Yes && i < inTurn.end(turn)) {
      val (before, mark) = (inTurn.values(i - 1), inTurn.values(i))
      answer = fits(gaps(gapsBefore(i)), text, firsts(before), firsts(mark) - lengths(mark))
      i += 1
    }
    answer
  }
}

private[text] object MarkedPlaces {
  final val No = 0
  final val Yes = 1
  final val Open = 2

  private def fits(gap: Gap, text: UTF8String, from: Int, until: Int): Int = gap match {
    case Gap.Anything => Yes
    case Gap.Nothing => if (from == until) Yes else No
    case Gap.Unknown => Open
    case Gap.Characters(low, high, least, most) =>
      var isAscii = true
      var at = from
      while (at < until) {
        val c = Platform.getByte(text.getBaseObject, text.getBaseOffset + at)
        if (c < 0) isAscii = false
        else if ((((if (c < 64) low else high) >>> c) & 1) == 0) return No
        at += 1
      }
      // Other characters than those of ASCII have several bytes, and may be in the set or not.
      if (until - from < least || isAscii && most >= 0 && until - from > most) No else if (isAscii) Yes else Open
  }
}
