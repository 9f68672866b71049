package sparkrules.text

import java.nio.charset.StandardCharsets.ISO_8859_1
import java.util.Arrays

import org.apache.spark.unsafe.Platform
import org.apache.spark.unsafe.types.UTF8String

import sparkrules.value.IntLists

/**
 * All tests that are made of one text, decided together by one pass over it.
 *
 * @param covered the slots of these tests
 * @param keyTests per key of the automaton its entries: indices in `covered`, as `~index` if the test only may be true
 * @param checks per entry: where its bytes begin in `checkedBytes`; none if the key is proof enough, and not because
 *   the automaton ignores case
 */
final class TextScan private (
    val covered: Array[Int],
    private[sparkrules] val automaton: Automaton,
    private[sparkrules] val keyTests: IntLists,
    private[sparkrules] val checks: Array[Int],
    private[sparkrules] val checkedBytes: Array[Byte])
    extends Serializable {

  /** What changes from text to text: one for each task. */
  def scanner(): TextScanner = new TextScanner(this)
}

object TextScan {

  /** The tests of one slot's value: their own slots, and what they want. */
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

/** Scans texts. Nothing is cleared between them: a stamp that is not the current text's counts as empty. */
final class TextScanner(tests: TextScan) extends Hits {
  import tests._

  private var stamp = 0
  // Per test, of the last text that it was found for: twice the stamp, plus one if it was true.
  private val testStamps = new Array[Int](covered.length)
  // Keys of which, and of whose suffixes, all tests are stamped.
  private val keyStamps = new Array[Int](automaton.suffixes.length)
  private var text: UTF8String = _

  /** Slots of tests that are true for the last text: the first `decidedCount`. */
  val decided = new Array[Int](covered.length)
  var decidedCount = 0

  /** Slots of tests that may be true for it, to be asked of their expressions: the first `openCount`. */
  val open = new Array[Int](covered.length)
  var openCount = 0

  /** Decides all tests of a text. Those that are then neither decided nor open are false. */
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
      var entry = keyTests.start(key)
      while (entry < keyTests.end(key)) {
        if (isThere(entry, end)) found(keyTests.values(entry)) else done = false
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
      if (testStamps(entry) != 2 * stamp + 1) {
        testStamps(entry) = 2 * stamp + 1
        decided(decidedCount) = covered(entry)
        decidedCount += 1
      }
    } else if (testStamps(~entry) >> 1 != stamp) {
      testStamps(~entry) = 2 * stamp
      open(openCount) = ~entry
      openCount += 1
    }

  /** A test may have been open for a while before it was decided. */
  private def closeDecided(): Unit = {
    var kept = 0
    var i = 0
    while (i < openCount) {
      if (testStamps(open(i)) == 2 * stamp) {
        open(kept) = covered(open(i))
        kept += 1
      }
      i += 1
    }
    openCount = kept
  }

  private def forget(): Unit = {
    Arrays.fill(testStamps, 0)
    Arrays.fill(keyStamps, 0)
    stamp = 0
  }
}

object TextScanner {
  private final val LastStamp = Int.MaxValue / 2
}
