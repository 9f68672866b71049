package sparkrules.value

import java.util.Arrays

/** Operations on arrays of integers that box none of them: rule sets have millions. */
object IntArrays {
  def exists(values: Array[Int])(is: Int => Boolean): Boolean = {
    var i = 0
    while (i < values.length && !is(values(i))) i += 1
    i < values.length
  }

  /** The values for which `is` holds, and the others. */
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
