package sparkrules.kernel

import java.util.Arrays

/**
 * Where the instructions of a scan go on for a slot. Long ones have thousands of slots, of which a row finds dozens: a
 * table of them, made when it is first needed, takes a third of the time of a search.
 */
private final class ScanTargets(words: Array[Int]) {
  import ScanTargets._

  // Per scan: where the instruction with a table is, and the table, from the first slot of it on.
  private var places = new Array[Int](0)
  private var tables = new Array[Array[Int]](0)
  private var (place, n) = (0, 0)
  private var table: Array[Int] = _

  /** Those of the instruction at this place, with `n` slots. */
  def at(scan: Int, place: Int, n: Int): ScanTargets = {
    this.place = place
    this.n = n
    table = null
    if (n >= Long) {
      if (scan >= places.length) {
        places = Arrays.copyOf(places, scan + 1)
        tables = Arrays.copyOf(tables, scan + 1)
      }
      if (tables(scan) == null && spanOf(place, n) <= Sparse * n.toLong) {
        places(scan) = place
        tables(scan) = filled(place, n)
      }
      if (places(scan) == place) table = tables(scan)
    }
    this
  }

  /** The target of a slot, or -1. */
  def of(slot: Int): Int =
    if (table != null) {
      val i = slot - words(place)
      if (i >= 0 && i < table.length) table(i) else -1
    } else {
      val at = Arrays.binarySearch(words, place, place + n, slot)
      if (at >= 0) words(at + n) else -1
    }

  private def filled(place: Int, n: Int): Array[Int] = {
    val all = Array.fill(spanOf(place, n).toInt)(-1)
    (place until place + n).foreach(i => all(words(i) - words(place)) = words(i + n))
    all
  }

  private def spanOf(place: Int, n: Int): Long = words(place + n - 1).toLong - words(place) + 1
}

private object ScanTargets {
  private final val Long = 64

  // Slots from the first to the last, per slot.
  private final val Sparse = 16L
}
