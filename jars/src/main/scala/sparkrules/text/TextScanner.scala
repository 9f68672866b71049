package sparkrules.text

import java.util.Arrays

import org.apache.spark.unsafe.Platform
import org.apache.spark.unsafe.types.UTF8String

/** Scans strings. Nothing is cleared between them: only stamps of the current string count. */
final class TextScanner(tests: TextScan) extends Hits {
  import tests._

  private var stamp = 0
  // Per predicate, of the last string in which it was found: twice the stamp, plus one if it was true.
  private val stamps = new Array[Int](covered.length)
  // Keys whose predicates, and those of their suffixes, are all stamped.
  private val keyStamps = new Array[Int](automaton.suffixes.length)
  private val places = new MarkedPlaces(marks)
  private var text: UTF8String = _

  /** Slots of predicates that are true for the last string: the first `decidedCount`. */
  val decided = new Array[Int](covered.length)
  var decidedCount = 0

  /** Slots of predicates that Spark has to evaluate for it: the first `openCount`. */
  val open = new Array[Int](covered.length)
  var openCount = 0

  /** Decides all predicates on a string. Those that are then neither decided nor open are false. */
  def scan(next: UTF8String): Unit = {
    text = next
    decidedCount = 0
    openCount = 0
    if (stamp == TextScanner.LastStamp) forget()
    stamp += 1
    places.start(stamp)
    automaton.scan(text, this)
    decideTurns()
    if (openCount > 0) closeDecided()
  }

  /** What was found in the last string; [[restore]] makes it so again. */
  def answer: TextAnswer = new TextAnswer(Arrays.copyOf(decided, decidedCount), Arrays.copyOf(open, openCount))

  /** As if the string of this answer had been scanned. */
  def restore(answer: TextAnswer): Unit = {
    decidedCount = answer.decided.length
    System.arraycopy(answer.decided, 0, decided, 0, decidedCount)
    openCount = answer.open.length
    System.arraycopy(answer.open, 0, open, 0, openCount)
  }

  override def hit(longest: Int, end: Int): Unit = {
    var key = longest
    var done = true
    while (key >= 0 && keyStamps(key) != stamp) {
      var entry = keyEntries.start(key)
      val last = keyEntries.end(key)
      while (entry < last) {
        if (isThere(entry, end)) found(keyEntries.values(entry), end) else done = false
        entry += 1
      }
      key = automaton.suffixes(key)
    }
    if (key >= 0) markAgain(marking(key), end)
    key = longest
    while (done && key >= 0 && keyStamps(key) != stamp) {
      keyStamps(key) = stamp
      key = automaton.suffixes(key)
    }
  }

  /** Of keys that were found before, only the places matter. */
  private def markAgain(from: Int, end: Int): Unit = {
    var key = from
    while (key >= 0) {
      var entry = keyEntries.start(key)
      while (entry < keyEntries.end(key)) {
        val value = keyEntries.values(entry)
        if ((value & 3) == TextScan.Mark && isThere(entry, end)) places.note(value >> 2, end)
        entry += 1
      }
      val suffix = automaton.suffixes(key)
      key = if (suffix < 0) -1 else marking(suffix)
    }
  }

  /** Whether the bytes before `end` are those of the entry, in its case too. */
  private def isThere(entry: Int, end: Int): Boolean = {
    var i = checks(entry)
    val until = checks(entry + 1)
    var at = text.getBaseOffset + end - (until - i)
    while (i < until && Platform.getByte(text.getBaseObject, at) == checkedBytes(i)) { i += 1; at += 1 }
    i == until
  }

  private def found(entry: Int, end: Int): Unit = (entry & 3) match {
    case TextScan.Sure => decide(entry >> 2)
    case TextScan.Maybe => leaveOpen(entry >> 2)
    case _ => places.note(entry >> 2, end)
  }

  private def decideTurns(): Unit = {
    var i = 0
    while (i < places.begunCount) {
      val turn = places.begun(i)
      val predicate = marks.predicates(turn)
      if (stamps(predicate) != 2 * stamp + 1) places.decide(turn, text) match {
        case MarkedPlaces.Yes => decide(predicate)
        case MarkedPlaces.Open => leaveOpen(predicate)
        case _ =>
      }
      i += 1
    }
  }

  private def decide(predicate: Int): Unit = if (stamps(predicate) != 2 * stamp + 1) {
    stamps(predicate) = 2 * stamp + 1
    decided(decidedCount) = covered(predicate)
    decidedCount += 1
  }

  private def leaveOpen(predicate: Int): Unit = if (stamps(predicate) >> 1 != stamp) {
    stamps(predicate) = 2 * stamp
    open(openCount) = predicate
    openCount += 1
  }

  /** Removes predicates that were open before they were decided. */
  private def closeDecided(): Unit = {
    var kept = 0
    var i = 0
    while (i < openCount) {
      if (stamps(open(i)) == 2 * stamp) {
        open(kept) = covered(open(i))
        kept += 1
      }
      i += 1
    }
    openCount = kept
  }

  private def forget(): Unit = {
    Arrays.fill(stamps, 0)
    Arrays.fill(keyStamps, 0)
    places.forget()
    stamp = 0
  }
}

/** The slots of predicates that are true for a string, and of those that Spark has to evaluate. */
final class TextAnswer(val decided: Array[Int], val open: Array[Int])

object TextScanner {
  private final val LastStamp = Int.MaxValue / 2
}
