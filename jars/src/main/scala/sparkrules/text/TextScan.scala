package sparkrules.text

import java.nio.charset.StandardCharsets.ISO_8859_1
import java.util.Arrays

import sparkrules.value.IntLists

/**
 * All predicates on one string, decided together by one pass over it.
 *
 * @param covered the slots of these predicates
 * @param keyEntries per key of the automaton its entries: what it means that the key is found, see [[TextScan.Sure]].
 * @param checks per entry: where its bytes begin in `checkedBytes`. An entry has bytes if its case matters and the
 *   automaton ignores case.
 * @param marking per key: the first key with a mark among itself and its suffixes, or -1
 * @param marks the strings of turns, whose places are noted
 */
final class TextScan private (
    val covered: Array[Int],
    private[sparkrules] val automaton: Automaton,
    private[sparkrules] val keyEntries: IntLists,
    private[sparkrules] val checks: Array[Int],
    private[sparkrules] val checkedBytes: Array[Byte],
    private[sparkrules] val marking: Array[Int],
    private[sparkrules] val marks: Marks)
    extends Serializable {

  /** The state of a scan: one for each task. */
  def scanner(): TextScanner = new TextScanner(this)
}

object TextScan {

  /** What an entry is: an index in `covered` or the number of a mark, above two bits that tell which. */
  private[text] final val Sure = 0
  private[text] final val Maybe = 1
  private[text] final val Mark = 2

  /** The predicates on one slot's value: their own slots, and what they look for. */
  def of(tests: Iterable[(Int, Wanted)]): TextScan = {
    val all = tests.toArray
    val turns = all.indices.toArray.flatMap(i => all(i)._2.turns.map((i, _)))
    val (marks, marked) = Marks.of(turns)
    val entries = all.indices.toArray.flatMap { i =>
      val wanted = all(i)._2
      wanted.sure.map(part => (i << 2 | Sure, part)) ++ wanted.maybe.map(part => (i << 2 | Maybe, part))
    } ++ marked.indices.map(mark => (mark << 2 | Mark, marked(mark)))
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
    val keyEntries = new IntLists(grouped.offsets, grouped.values.map(entries(_)._1))
    new TextScan(
      all.map(_._1),
      automaton,
      keyEntries,
      checked.scanLeft(0)(_ + _.length),
      checked.flatten,
      markingKeys(automaton, keyEntries),
      marks)
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
    if (!part.atEnd) started else s"$started${if (part.orLastLine) Automaton.LastLineEnd else Automaton.End}"
  }

  /** Shorter keys have lower numbers, so the suffixes of a key come before it. */
  private def markingKeys(automaton: Automaton, entries: IntLists): Array[Int] = {
    val marking = new Array[Int](entries.size)
    marking.indices.foreach { key =>
      val hasMark = (entries.start(key) until entries.end(key)).exists(i => (entries.values(i) & 3) == Mark)
      val suffix = automaton.suffixes(key)
      marking(key) = if (hasMark) key else if (suffix < 0) -1 else marking(suffix)
    }
    marking
  }
}
