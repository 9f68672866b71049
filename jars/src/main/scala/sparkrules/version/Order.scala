package sparkrules.version

import java.util.PriorityQueue

import sparkrules.program.{Program, RuleOrder}

/**
 * One order for the rules of several parts: a number for each rule. The rules of the largest part, `main`, are in order
 * already. Any other rule has a place before one of these, and a place among the others. So nothing is stored for the
 * rules of the largest part, which may be a million, and no ids are compared while rows are matched.
 *
 * @param keys per part and rule: its number in the order; null for `main`
 * @param others the rules that are not of `main`, in order: the part above the number in the part
 */
final class Order(val main: Int, keys: Array[Array[Long]], others: Array[Long]) extends Serializable {

  def key(part: Int, rule: Int): Long = if (part == main) (rule.toLong << 32) | Order.OfMain else keys(part)(rule)

  /** The part of a rule that was found: a number of the main part, or -1 less the number of one of the others. */
  def part(found: Int): Int = if (found >= 0) main else (others(-1 - found) >>> 32).toInt

  /** The number of that rule in its part. */
  def rule(found: Int): Int = if (found >= 0) found else others(-1 - found).toInt
}

object Order {
  private final val OfMain = 0xffffffffL

  /** For a key that is not of the main part: how many rules of the main part come before it, and which other it is. */
  def placeOf(key: Long): Int = (key >>> 32).toInt
  def otherOf(key: Long): Int = key.toInt

  def of(parts: IndexedSeq[VersionPart]): Order = {
    val main = parts.indices.maxBy(parts(_).program.rules.size)
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
      // The first rule of each part that is not taken yet.
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

  /** Per rule of `program`: how many rules of `main` come before it. */
  def places(program: Program, main: Program): Array[Int] = {
    val found = new Array[Int](program.rules.size)
    var from = 0
    found.indices.foreach { s =>
      var (low, high) = (from, main.rules.size)
      while (low < high) {
        val middle = (low + high) >>> 1
        if (compare(main, middle, program, s) < 0) low = middle + 1 else high = middle
      }
      found(s) = low
      from = low
    }
    found
  }

  private def compare(a: Program, i: Int, b: Program, j: Int): Int =
    RuleOrder.compare(a.rules.priorities(i), a.rules.ids(i), b.rules.priorities(j), b.rules.ids(j))
}
