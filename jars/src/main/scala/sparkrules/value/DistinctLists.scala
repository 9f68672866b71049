package sparkrules.value

import java.util.Arrays

/** Lists of integers, each once, numbered in the order in which they came. */
final class DistinctLists {
  private val ends = new IntBuffer
  private val values = new IntBuffer
  // Open addressing. The number of a list + 1, or 0 for a free place.
  private var table = new Array[Int](64)
  ends += 0

  def size: Int = ends.length - 1

  /** The number of a list. It is a new one if that is the size before. */
  def add(list: Array[Int]): Int = {
    if (2 * size >= table.length) grow()
    var place = placeOf(Arrays.hashCode(list))
    while (table(place) != 0 && !isEqual(table(place) - 1, list)) place = next(place)
    if (table(place) == 0) {
      list.foreach(values += _)
      ends += values.length
      table(place) = size
    }
    table(place) - 1
  }

  private def isEqual(number: Int, list: Array[Int]): Boolean = {
    val start = ends(number)
    var i = if (ends(number + 1) - start == list.length) 0 else list.length + 1
    while (i < list.length && values(start + i) == list(i)) i += 1
    i == list.length
  }

  private def grow(): Unit = {
    table = new Array[Int](2 * table.length)
    var number = 0
    while (number < size) {
      var place = placeOf(hashOf(number))
      while (table(place) != 0) place = next(place)
      table(place) = number + 1
      number += 1
    }
  }

  /** As `Arrays.hashCode` of the list. */
  private def hashOf(number: Int): Int = {
    var (hash, i) = (1, ends(number))
    while (i < ends(number + 1)) { hash = 31 * hash + values(i); i += 1 }
    hash
  }

  // Neighbouring numbers must not lie side by side: look-ups would go from one to the next.
  private def placeOf(hash: Int): Int = (hash * 0x9e3779b9) >>> (Integer.numberOfLeadingZeros(table.length) + 1)

  private def next(place: Int): Int = (place + 1) & (table.length - 1)
}
