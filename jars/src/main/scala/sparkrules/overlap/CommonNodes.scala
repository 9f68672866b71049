package sparkrules.overlap

import java.util.Arrays

import scala.collection.mutable.ArrayBuffer

import sparkrules.program.Forest

/**
 * The subexpressions that several parts of a version have, numbered.
 *
 * @param nodes per part: those of its nodes, and `numbers` their numbers
 */
final class CommonNodes(nodes: Array[Array[Int]], numbers: Array[Array[Int]], count: Int) extends Serializable {
  @transient private var made: SharedNodes = _

  /** How the rules of the parts, given their forests, share nodes. Made once in each JVM. */
  def sharedNodes(forests: => Array[Forest]): SharedNodes = synchronized {
    if (made == null) made = SharedNodes.of(forests, nodes, numbers, count)
    made
  }
}

object CommonNodes {

  /** For a version of one part. */
  def none: CommonNodes = new CommonNodes(Array(Array.empty[Int]), Array(Array.empty[Int]), 0)

  /** @param digests per part */
  def of(digests: Array[Digests]): CommonNodes = {
    // The largest part only looks up what the others have.
    val order = digests.indices.sortBy(digests(_).size)
    val known = new DigestNumbers(order.init.map(digests(_).size.toLong).sum)
    val seen = order.map { part =>
      val own = digests(part)
      val isLast = part == order.last
      part -> Array.tabulate(own.size)(node => known.number(own.high(node), own.low(node), part, add = !isLast))
    }.toMap
    val numbers = Array.fill(known.size)(-1)
    var count = 0
    numbers.indices.foreach(i => if (known.isShared(i)) { numbers(i) = count; count += 1 })
    val common = digests.indices.map { part =>
      val (own, theirs) = (ArrayBuffer.empty[Int], ArrayBuffer.empty[Int])
      seen(part).indices.foreach { node =>
        val number = seen(part)(node)
        if (number >= 0 && numbers(number) >= 0) { own += node; theirs += numbers(number) }
      }
      (own.toArray, theirs.toArray)
    }
    new CommonNodes(common.map(_._1).toArray, common.map(_._2).toArray, count)
  }

  /** Numbers digests in the order in which they come, and remembers which come from two parts. */
  private final class DigestNumbers(most: Long) {
    private val places = Integer.highestOneBit(math.min(most, 1L << 27).toInt.max(4)) * 4
    private val table = new Array[Int](places) // 1 + the number, or 0
    private var bits = new Array[Long](64)
    private var parts = new Array[Int](32) // per number: its part, or -1 if there are two
    var size = 0

    def isShared(number: Int): Boolean = parts(number) < 0

    /** The number of a digest, or -1 if it is new and not to be added. */
    def number(high: Long, low: Long, part: Int, add: Boolean): Int = {
      var place = low.toInt & (places - 1) // digests are random bits
      while (table(place) != 0 && !isAt(table(place) - 1, high, low)) place = (place + 1) & (places - 1)
      if (table(place) != 0) {
        val known = table(place) - 1
        if (parts(known) != part) parts(known) = -1
        known
      } else if (!add) -1
      else {
        if (size == parts.length) {
          parts = Arrays.copyOf(parts, 2 * size)
          bits = Arrays.copyOf(bits, 4 * size)
        }
        bits(2 * size) = high
        bits(2 * size + 1) = low
        parts(size) = part
        size += 1
        table(place) = size
        size - 1
      }
    }

    private def isAt(number: Int, high: Long, low: Long): Boolean =
      bits(2 * number) == high && bits(2 * number + 1) == low
  }
}
