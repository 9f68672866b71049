package sparkrules.value

import java.util.Arrays

/**
 * What Scala has for arrays of anything, for integers: a million rules are compiled without an object for each of them.
 */
object IntArrays {
  def exists(values: Array[Int])(is: Int => Boolean): Boolean = {
    var i = 0
    while (i < values.length && !is(values(i))) i += 1
    i < values.length
  }

  /** Those that are so, and those that are not. */
  def partition(values: Array[Int])(is: Int => Boolean): (Array[Int], Array[Int]) = {
    val (those, others) = (new Array[Int](values.length), new Array[Int](values.length))
    var (count, i) = (0, 0)
    while (i < values.length) {
      if (is(values(i))) { those(count) = values(i); count += 1 }
      else others(i - count) = values(i)
      i += 1
    }
    (cut(those, count), cut(others, values.length - count))
  }

  private def cut(values: Array[Int], length: Int): Array[Int] =
    if (length == values.length) values else Arrays.copyOf(values, length)
}
