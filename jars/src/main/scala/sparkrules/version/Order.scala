package sparkrules.version

import java.util.PriorityQueue

import sparkrules.program.Program

/**
 * One order for the subscriptions of several parts, as a number for each. The subscriptions of the largest part,
 * `main`, are in order among themselves; any other has a place before one of them, and a place among the others. So
 * nothing need be known of each of the largest part's, which may be a million, and no texts are compared while rows are
 * matched.
 *
 * @param keys per part and subscription: its number in the order; null for `main`
 * @param others the subscriptions that are not of `main`, in order: the part above the number in the part
 */
final class Order(val main: Int, keys: Array[Array[Long]], others: Array[Long]) extends Serializable {

  def key(part: Int, subscription: Int): Long =
    if (part == main) (subscription.toLong << 32) | Order.OfMain else keys(part)(subscription)

  /** The part of what was found: a number of the main part, or -1 less that of one of the others. */
  def part(found: Int): Int = if (found >= 0) main else (others(-1 - found) >>> 32).toInt

  def subscription(found: Int): Int = if (found >= 0) found else others(-1 - found).toInt
}

object Order {
  private final val OfMain = 0xffffffffL

  /** Of a key that is not of the main part: how many of that come before it, and which of the others it is. */
  def placeOf(key: Long): Int = (key >>> 32).toInt
  def otherOf(key: Long): Int = key.toInt

  def of(parts: IndexedSeq[VersionPart]): Order = {
    val main = parts.indices.maxBy(parts(_).program.subscriptions)
    val others = parts.indices.filter(_ != main).toArray
    val places = parts.indices.map(p => if (p == main) null else parts(p).placesIn(parts(main).program))
    val keys = parts.indices.map(p => if (p == main) null else new Array[Long](places(p).length)).toArray
    val sequence = new Array[Long](others.map(places(_).length).sum)
    var next = 0
    def take(p: Int, s: Int): Unit = {
      keys(p)(s) = (places(p)(s).toLong << 32) | next
      sequence(next) = (p.toLong << 32) | s
      next += 1
    }
    if (others.length == 1) places(others.head).indices.foreach(take(others.head, _))
    else {
      // The first of each part that is not taken yet.
      final class Head(val p: Int, val s: Int)
      val heads = new PriorityQueue[Head](math.max(1, others.length), (a: Head, b: Head) => {
        val byPlace = Integer.compare(places(a.p)(a.s), places(b.p)(b.s))
        if (byPlace != 0) byPlace else compare(parts(a.p).program, a.s, parts(b.p).program, b.s)
      })
      others.foreach(p => if (places(p).nonEmpty) heads.add(new Head(p, 0)))
      while (!heads.isEmpty) {
        val head = heads.poll()
        take(head.p, head.s)
        if (head.s + 1 < places(head.p).length) heads.add(new Head(head.p, head.s + 1))
      }
    }
    new Order(main, keys, sequence)
  }

  /** Per subscription of `program`: how many of `main` come before it. */
  def places(program: Program, main: Program): Array[Int] = {
    val found = new Array[Int](program.subscriptions)
    var from = 0
    found.indices.foreach { s =>
      var (low, high) = (from, main.subscriptions)
      while (low < high) {
        val middle = (low + high) >>> 1
        if (compare(main, middle, program, s) < 0) low = middle + 1 else high = middle
      }
      found(s) = low
      from = low
    }
    found
  }

  /** Highest priority first, then by id. */
  private def compare(a: Program, i: Int, b: Program, j: Int): Int =
    if (a.priorities(i) != b.priorities(j)) Integer.compare(b.priorities(j), a.priorities(i))
    else a.ids(i).binaryCompare(b.ids(j))
}
