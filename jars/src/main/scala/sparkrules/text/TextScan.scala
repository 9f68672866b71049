package sparkrules.text

import java.nio.charset.StandardCharsets.ISO_8859_1
import java.util.Arrays

import org.apache.spark.unsafe.Platform
import org.apache.spark.unsafe.types.UTF8String

import sparkrules.value.IntLists

/**
 * All predicates on one string, decided together by one pass over it.
 *
 * @param covered the slots of these predicates
 * @param keyEntries per key of the automaton its entries: indices in `covered`, or `~index` if the key does not prove
 *   that the predicate is true
 * @param checks per entry: where its bytes begin in `checkedBytes`. An entry has bytes if its case matters and the
 *   automaton ignores case.
 */
final class TextScan private (
    val covered: Array[Int],
    private[sparkrules] val automaton: Automaton,
    private[sparkrules] val keyEntries: IntLists,
    private[sparkrules] val checks: Array[Int],
    private[sparkrules] val checkedBytes: Array[Byte])
    extends Serializable {

  /** The state of a scan: one for each task. */
  def scanner(): TextScanner = new TextScanner(this)
}

object TextScan {

  /** The predicates on one slot's value: their own slots, and what they look for. */
  def of(tests: Iterable[(Int, Wanted)]): TextScan = {
    val all = tests.toArray
    val entries = all.indices.toArray.flatMap { i =>
      val wanted = all(i)._2
      wanted.sure.map(part => (i, part)) ++ wanted.maybe.map(part => (~i, part))
    }
    val anyCase = entries.exists(_._2.anyCase)
    val entryKeys = entries.map { case (_, part) => key(part, anyCase) }
    val keys = entryKeys.clone()
    Arrays.sort(keys.asInstanceOf[Array[AnyRef]])
    val distinct = keys.indices.collect { case i if i == 0 || keys(i) != keys(i - 1) => keys(i) }.toArray
    val (automaton, order) = Automaton.of(distinct, anyCase)
    val numbers = new Array[Int](order.length)
    order.indices.foreach(i => numbers(order(i)) = i)
    val grouped = IntLists.group(
      distinct.length,
      entryKeys.map(key => numbers(Arrays.binarySearch(distinct.asInstanceOf[Array[AnyRef]], key))),
      entries.indices.toArray)
    val checked = grouped.values.map { entry =>
      val part = entries(entry)._2
      if (anyCase && !part.anyCase && Piece.hasLetters(part.text)) part.text.getBytes else Array.emptyByteArray
    }
    new TextScan(
      all.map(_._1),
      automaton,
      new IntLists(grouped.offsets, grouped.values.map(entries(_)._1)),
      checked.scanLeft(0)(_ + _.length),
      checked.flatten)
  }

  /** Per slot: which of the scans decides it, or -1. */
  def bySlot(scans: Array[TextScan], slots: Int): Array[Int] = {
    val all = Array.fill(slots)(-1)
    scans.indices.foreach(scan => scans(scan).covered.foreach(all(_) = scan))
    all
  }

  private def key(part: Piece, anyCase: Boolean): String = {
    val bytes = part.text.getBytes
    val text = new String(if (anyCase) bytes.map(Piece.lower) else bytes, ISO_8859_1)
    val started = if (part.atStart) s"${Automaton.Start}$text" else text
    if (part.atEnd) s"$started${Automaton.End}" else started
  }
}

/** Scans strings. Nothing is cleared between them: only stamps of the current string count. */
final class TextScanner(tests: TextScan) extends Hits {
  import tests._

  private var stamp = 0
  // Per predicate, of the last string in which it was found: twice the stamp, plus one if it was true.
  private val stamps = new Array[Int](covered.length)
  // Keys whose predicates, and those of their suffixes, are all stamped.
  private val keyStamps = new Array[Int](automaton.suffixes.length)
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
    automaton.scan(text, this)
    closeDecided()
  }

  override def hit(longest: Int, end: Int): Unit = if (keyStamps(longest) != stamp) {
    var done = true
    var key = longest
    while (key >= 0 && keyStamps(key) != stamp) {
      var entry = keyEntries.start(key)
      while (entry < keyEntries.end(key)) {
        if (isThere(entry, end)) found(keyEntries.values(entry)) else done = false
        entry += 1
      }
      key = automaton.suffixes(key)
    }
    key = longest
    while (done && key >= 0 && keyStamps(key) != stamp) {
      keyStamps(key) = stamp
      key = automaton.suffixes(key)
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

  private def found(entry: Int): Unit =
    if (entry >= 0) {
      if (stamps(entry) != 2 * stamp + 1) {
        stamps(entry) = 2 * stamp + 1
        decided(decidedCount) = covered(entry)
        decidedCount += 1
      }
    } else if (stamps(~entry) >> 1 != stamp) {
      stamps(~entry) = 2 * stamp
      open(openCount) = ~entry
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
    stamp = 0
  }
}

object TextScanner {
  private final val LastStamp = Int.MaxValue / 2
}
