package sparkrules

import org.apache.spark.unsafe.types.UTF8String

/** Lists of integers in two flat arrays: list `i` is `values(offsets(i))` until `values(offsets(i + 1))`. */
final class IntLists(val offsets: Array[Int], val values: Array[Int]) extends Serializable {
  def size: Int = offsets.length - 1
  def start(i: Int): Int = offsets(i)
  def end(i: Int): Int = offsets(i + 1)
  def length(i: Int): Int = offsets(i + 1) - offsets(i)
  def apply(i: Int): Array[Int] = java.util.Arrays.copyOfRange(values, offsets(i), offsets(i + 1))
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

  def apply(lists: Iterable[Array[Int]]): IntLists =
    new IntLists(lists.iterator.map(_.length).scanLeft(0)(_ + _).toArray, lists.iterator.flatten.toArray)
}

/** A published rule set as it lies in the store (docs/store-format.md): texts and numbers, bound to no table yet. */
final class Segment(
    val attributes: Array[String],
    val constantKinds: Array[String],
    val constantTexts: Array[String],
    val predicateAttributes: Array[Int],
    val predicateOperators: Array[String],
    val predicateConstants: IntLists,
    val nodeOperators: Array[String],
    val nodePredicates: Array[Int],
    val nodeChildren: IntLists,
    val subscriptionIds: Array[UTF8String],
    val subscriptionNodes: Array[Int],
    val subscriptionPriorities: Array[Int],
    val subscriptionTexts: Array[String],
    val functions: Array[String])
