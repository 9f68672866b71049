package sparkrules.value

/** Lists of integers in two flat arrays: list `i` is `values(offsets(i))` until `values(offsets(i + 1))`. */
final class IntLists(val offsets: Array[Int], val values: Array[Int]) extends Serializable {
  def size: Int = offsets.length - 1
  def start(i: Int): Int = offsets(i)
  def end(i: Int): Int = offsets(i + 1)
  def length(i: Int): Int = offsets(i + 1) - offsets(i)
  def apply(i: Int): Array[Int] = java.util.Arrays.copyOfRange(values, offsets(i), offsets(i + 1))
  def withEmpty(count: Int): IntLists = new IntLists(offsets ++ Array.fill(count)(values.length), values)
}

object IntLists {

  /** The lists of `values` under each of `count` keys, in the order given. */
  def group(count: Int, keys: Array[Int], values: Array[Int]): IntLists = {
    val offsets = new Array[Int](count + 1)
    keys.foreach(key => offsets(key + 1) += 1)
    var i = 0
    while (i < count) { offsets(i + 1) += offsets(i); i += 1 }
    val next = java.util.Arrays.copyOf(offsets, count)
    val grouped = new Array[Int](values.length)
    i = 0
    while (i < keys.length) {
      grouped(next(keys(i))) = values(i)
      next(keys(i)) += 1
      i += 1
    }
    new IntLists(offsets, grouped)
  }

  def apply(lists: Iterable[Array[Int]]): IntLists = {
    val offsets = new Array[Int](lists.size + 1)
    var i = 0
    lists.foreach { list => offsets(i + 1) = Math.addExact(offsets(i), list.length); i += 1 }
    val values = new Array[Int](offsets(i))
    i = 0
    lists.foreach { list => System.arraycopy(list, 0, values, offsets(i), list.length); i += 1 }
    new IntLists(offsets, values)
  }

  def concat(parts: Seq[IntLists]): IntLists = {
    val shifts = parts.scanLeft(0)((sum, part) => Math.addExact(sum, part.values.length))
    new IntLists(
      Array.concat(
        parts.zip(shifts).map { case (part, shift) => part.offsets.init.map(_ + shift) } :+ Array(shifts.last): _*),
      Array.concat(parts.map(_.values): _*))
  }
}
