package race

/** A list of numbers that grows. */
final class Ints(capacity: Int = 16) {
  var values: Array[Int] = new Array[Int](capacity)
  var size: Int = 0

  def +=(value: Int): Unit = {
    if (size == values.length) values = java.util.Arrays.copyOf(values, 2 * size + 1)
    values(size) = value
    size += 1
  }

  def apply(at: Int): Int = values(at)
  def clear(): Unit = size = 0
  def pop(): Int = {
    size -= 1
    values(size)
  }

  /** Fills up to `length` numbers. */
  def growTo(length: Int, value: Int): Unit = while (size < length) this += value
}
