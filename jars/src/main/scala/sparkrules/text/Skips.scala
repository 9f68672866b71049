package sparkrules.text

import org.apache.spark.unsafe.Platform

/**
 * How far a scan can go on without a look at each byte, where no key has begun (Wu and Manber, 1994). If two bytes are
 * not together within the first `window` bytes of any key, no key begins before the second of them and covers both.
 *
 * @param window the bytes of the shortest key
 * @param lengths per hash of two bytes: how many places later a key can begin at the earliest, if these are the last
 *   two of a window
 */
private[text] final class Skips private (window: Int, lengths: Array[Byte]) extends Serializable {
  import Skips.hash

  /** The first place, from `start` on, at which a key may begin, and before `until`. */
  def from(base: AnyRef, offset: Long, start: Int, until: Int, classes: Array[Int]): Int = {
    var i = start
    var end = i + window
    while (end <= until) {
      val first = classes(Platform.getByte(base, offset + end - 2) & 0xff)
      val length = lengths(hash(first, classes(Platform.getByte(base, offset + end - 1) & 0xff))).toInt
      if (length == 0) return i
      i += length
      end += length
    }
    i
  }
}

private[text] object Skips {
  // 4 KB, which stay in the first cache of a core.
  private val Places = 1 << 12

  private val Longest = 100

  // A look at two bytes has to save more than one at each.
  private val LeastMean = 2.0

  /** What can be skipped; null if that is too little. Keys at the start of a string begin nowhere else. */
  def of(keys: Array[String], classes: Array[Int]): Skips = {
    val texts = keys.filter(_.head != Automaton.Start).map(_.filter(_ < 256))
    val window = if (texts.isEmpty) 0 else math.min(Longest, texts.iterator.map(_.length).min)
    if (window < 3) null
    else {
      val lengths = Array.fill(Places)((window - 1).toByte)
      texts.foreach { text =>
        (1 until window).foreach { i =>
          val place = hash(classes(text.charAt(i - 1).toInt), classes(text.charAt(i).toInt))
          lengths(place) = math.min(lengths(place).toInt, window - 1 - i).toByte
        }
      }
      if (lengths.iterator.map(_.toLong).sum < LeastMean * Places) null else new Skips(window, lengths)
    }
  }

  private def hash(first: Int, second: Int): Int = (first * 61 + second) & (Places - 1)
}
