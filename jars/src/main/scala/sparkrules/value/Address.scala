package sparkrules.value

import org.apache.spark.unsafe.types.UTF8String

/**
 * Addresses of networks and hosts, IPv4 and IPv6, as strings that sort like the addresses: `4:0a000001`. Nothing is
 * looked up. Python has the same grammar (`address.py`).
 */
object Address {
  private final val Dotted = 4
  private final val LongestAddress = 45 // 0000:0000:0000:0000:0000:ffff:255.255.255.255
  private final val Groups = 8
  private val Hex = "0123456789abcdef".getBytes

  /** The key of an address; empty, and so before all others, if the text is none. */
  def key(text: UTF8String): UTF8String = {
    val bits = parse(text, text.numBytes)
    if (bits == null) UTF8String.EMPTY_UTF8 else keyOf(bits)
  }

  /** The keys of the first and the last address of a network; None if the text is none, or has bits of a host. */
  def network(text: UTF8String): Option[(UTF8String, UTF8String)] = {
    val slash = Option(find(text, '/', 0)).filter(_ >= 0)
    val length = slash.getOrElse(text.numBytes)
    val bits = if (find(text, '%', 0) >= 0) null else parse(text, length)
    if (bits == null) None
    else {
      val most = 8 * bits.length
      slash.fold(Option(most))(at => prefix(text, at + 1).filter(_ <= most)).flatMap { prefix =>
        def isFree(bit: Int): Boolean = bit >= prefix
        val last = bits.clone()
        var hostBits = false
        (prefix until most).filter(isFree).foreach { bit =>
          val mask = 128 >> (bit & 7)
          hostBits |= (bits(bit >> 3) & mask) != 0
          last(bit >> 3) = (last(bit >> 3) | mask).toByte
        }
        Option.when(!hostBits)((keyOf(bits), keyOf(last)))
      }
    }
  }

  private def prefix(text: UTF8String, from: Int): Option[Int] = {
    val digits = (from until text.numBytes).map(i => text.getByte(i) - '0')
    Option.when(digits.nonEmpty && digits.length <= 3 && digits.forall(d => d >= 0 && d <= 9)) {
      digits.foldLeft(0)(_ * 10 + _)
    }
  }

  private def keyOf(bits: Array[Byte]): UTF8String = {
    val key = new Array[Byte](2 + 2 * bits.length)
    key(0) = if (bits.length == Dotted) '4' else '6'
    key(1) = ':'
    var i = 0
    while (i < bits.length) {
      key(2 + 2 * i) = Hex((bits(i) >> 4) & 15)
      key(3 + 2 * i) = Hex(bits(i) & 15)
      i += 1
    }
    UTF8String.fromBytes(key)
  }

  /** The four or sixteen bytes of the address in the first bytes of a text; null if they are none. */
  private def parse(text: UTF8String, length: Int): Array[Byte] =
    if (find(text, ':', 0, length) < 0) {
      val bits = new Array[Byte](Dotted)
      if (dotted(text, 0, length, bits, 0)) bits else null
    } else {
      val percent = find(text, '%', 0, length)
      if (percent < 0) groups(text, length)
      else if (percent + 1 == length || find(text, '%', percent + 1, length) >= 0) null
      else if (find(text, '/', percent + 1, length) >= 0) null
      else groups(text, percent)
    }

  /** Whether the bytes from `from` are four decimal numbers; puts them into `bits` from `at`. */
  private def dotted(text: UTF8String, from: Int, until: Int, bits: Array[Byte], at: Int): Boolean = {
    if (until - from > 15) return false
    var i = from
    var part = 0
    while (part < Dotted) {
      val start = i
      var number = 0
      while (i < until && isDigit(text.getByte(i))) {
        number = number * 10 + (text.getByte(i) - '0')
        i += 1
      }
      val digits = i - start
      if (digits == 0 || digits > 3 || number > 255 || (digits > 1 && text.getByte(start) == '0')) return false
      bits(at + part) = number.toByte
      part += 1
      if (part < Dotted) {
        if (i >= until || text.getByte(i) != '.') return false
        i += 1
      }
    }
    i == until
  }

  private def groups(text: UTF8String, until: Int): Array[Byte] = {
    if (until > LongestAddress) return null
    val bits = new Array[Byte](2 * Groups)
    var count = 0 // of groups so far
    var gap = -1 // the group before which `::` stands
    var i = 0
    if (until >= 2 && text.getByte(0) == ':') {
      if (text.getByte(1) != ':') return null
      gap = 0
      i = 2
    }
    var isOpen = i < until // whether a group has to follow
    while (isOpen) {
      var end = i
      var number = 0
      while (end < until && end - i <= 4 && hex(text.getByte(end)) >= 0) {
        number = (number << 4) | hex(text.getByte(end))
        end += 1
      }
      if (end < until && text.getByte(end) == '.') {
        if (count > Groups - 2 || !dotted(text, i, until, bits, 2 * count)) return null
        count += 2
        isOpen = false
      } else {
        if (end == i || end - i > 4 || count == Groups) return null
        bits(2 * count) = (number >> 8).toByte
        bits(2 * count + 1) = number.toByte
        count += 1
        if (end == until) isOpen = false
        else if (text.getByte(end) != ':') return null
        else if (end + 1 < until && text.getByte(end + 1) == ':') {
          if (gap >= 0) return null
          gap = count
          i = end + 2
          isOpen = i < until
        } else {
          i = end + 1
          if (i == until) return null
        }
      }
    }
    if (gap < 0) { if (count == Groups) bits else null }
    else if (count == Groups) null
    else {
      val moved = 2 * (count - gap)
      System.arraycopy(bits.clone(), 2 * gap, bits, bits.length - moved, moved)
      java.util.Arrays.fill(bits, 2 * gap, bits.length - moved, 0.toByte)
      bits
    }
  }

  private def find(text: UTF8String, byte: Char, from: Int): Int = find(text, byte, from, text.numBytes)

  private def find(text: UTF8String, byte: Char, from: Int, until: Int): Int = {
    var i = from
    while (i < until && text.getByte(i) != byte) i += 1
    if (i < until) i else -1
  }

  private def isDigit(byte: Byte): Boolean = byte >= '0' && byte <= '9'

  private def hex(byte: Byte): Int =
    if (isDigit(byte)) byte - '0'
    else if (byte >= 'a' && byte <= 'f') byte - 'a' + 10
    else if (byte >= 'A' && byte <= 'F') byte - 'A' + 10
    else -1
}
