package sparkrules.value

import java.util.Arrays

/**
 * Sorts different integers below `limit`. Which way is fastest depends on how many there are: a few are compared, some
 * are set as bits and read back, many are sorted by their digits.
 */
final class SmallInts(limit: Int) {
  private val bits = math.max(1, (33 - Integer.numberOfLeadingZeros(limit)) / 2)
  private val digits = 1 << bits
  private val (low, high) = (new Array[Int](digits), new Array[Int](digits))
  private var other = new Array[Int](0)
  // A bit for each integer, and one for each word that has a bit; none is set between calls.
  private val words = new Array[Long](if (limit <= SmallInts.MostBits) (limit >> 6) + 1 else 0)
  private val filled = new Array[Long]((words.length >> 6) + 1)

  def sort(values: Array[Int], count: Int): Unit =
    if (count >= math.max(SmallInts.Some, digits / 8)) byDigits(values, count)
    else if (count > SmallInts.Few && words.length > 0) byBits(values, count)
    else Arrays.sort(values, 0, count)

  private def byBits(values: Array[Int], count: Int): Unit = {
    var i = 0
    while (i < count) {
      val value = values(i)
      words(value >> 6) |= 1L << value
      filled(value >> 12) |= 1L << (value >> 6)
      i += 1
    }
    i = 0
    var block = 0
    while (i < count) {
      var blockBits = filled(block)
      filled(block) = 0
      while (blockBits != 0) {
        val word = (block << 6) + java.lang.Long.numberOfTrailingZeros(blockBits)
        blockBits &= blockBits - 1
        var bits = words(word)
        words(word) = 0
        while (bits != 0) {
          values(i) = (word << 6) + java.lang.Long.numberOfTrailingZeros(bits)
          bits &= bits - 1
          i += 1
        }
      }
      block += 1
    }
  }

  private def byDigits(values: Array[Int], count: Int): Unit = {
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
  private val Few = 8
  private val Some = 40
  private val MostBits = 1 << 17

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
