package sparkrules.value

import java.util.Arrays

/** A growing array of integers. */
final class IntBuffer {
  private var values = new Array[Int](1024)
  var length = 0

  def +=(value: Int): Unit = {
    if (length == values.length) values = Arrays.copyOf(values, 2 * length)
    values(length) = value
    length += 1
  }
  def ++=(more: Array[Int]): Unit = {
    val end = Math.addExact(length, more.length)
    if (end > values.length) values = Arrays.copyOf(values, math.max(end, 2 * length))
    System.arraycopy(more, 0, values, length, more.length)
    length = end
  }
  def update(i: Int, value: Int): Unit = values(i) = value
  def apply(i: Int): Int = values(i)
  def toArray: Array[Int] = Arrays.copyOf(values, length)
}
