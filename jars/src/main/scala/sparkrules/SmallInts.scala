package sparkrules

import java.util.Arrays

/** Sorts integers below `limit`: by digits, which is faster than comparing them once there are some. */
final class SmallInts(limit: Int) {
  private val bits = math.max(1, (33 - Integer.numberOfLeadingZeros(limit)) / 2)
  private val digits = 1 << bits
  private val (low, high) = (new Array[Int](digits), new Array[Int](digits))
  private var other = new Array[Int](0)

  def sort(values: Array[Int], count: Int): Unit =
    if (count < SmallInts.Few || count < digits / 8) Arrays.sort(values, 0, count)
    else {
      if (other.length < count) other = new Array[Int](2 * count)
      Arrays.fill(low, 0)
      Arrays.fill(high, 0)
      var i = 0
      while (i < count) {
        low(values(i) & (digits - 1)) += 1
        high(values(i) >>> bits) += 1
        i += 1
      }
      var (lowStart, highStart) = (0, 0)
      i = 0
      while (i < digits) {
        val (lows, highs) = (low(i), high(i))
        low(i) = lowStart
        high(i) = highStart
        lowStart += lows
        highStart += highs
        i += 1
      }
      i = 0
      while (i < count) {
        val digit = values(i) & (digits - 1)
        other(low(digit)) = values(i)
        low(digit) += 1
        i += 1
      }
      i = 0
      while (i < count) {
        val digit = other(i) >>> bits
        values(high(digit)) = other(i)
        high(digit) += 1
        i += 1
      }
    }
}

object SmallInts {
  private val Few = 40

  /** Between `from` and `until`, where the values ascend: the first place of one that is `least` or more. */
  def firstFrom(values: Array[Int], from: Int, until: Int, least: Int): Int = {
    var (low, high) = (from, until)
    while (low < high) {
      val middle = (low + high) >>> 1
      if (values(middle) < least) low = middle + 1 else high = middle
    }
    low
  }
}
