package sparkrules.scan

import sparkrules.value.IntBuffer

/** A set of codes that grows. */
private final class Marks(column: ScanColumn, next: Array[Int]) {

  // Per code: it, or the first code after it that is not marked.
  def this(column: ScanColumn) = this(column, Array.tabulate(column.shares.length + 1)(identity))

  private var unmarkedBelow: Array[Int] = _

  def copy(): Marks = new Marks(column, next.clone())

  private def unmarked(code: Int): Int = {
    var end = code
    while (next(end) != end) end = next(end)
    var at = code
    while (next(at) != end) { val after = next(at); next(at) = end; at = after }
    end
  }

  /** Marks codes; the share of rows of those that are new. */
  def add(codes: Array[Int]): Double = {
    var share = 0.0
    var i = 0
    while (i < codes.length) {
      var code = unmarked(codes(i))
      while (code <= codes(i + 1)) {
        share += column.shares(code)
        next(code) = code + 1
        code = unmarked(code)
      }
      i += 2
    }
    share
  }

  /** To be called before `contains`. */
  def count(): Unit = {
    unmarkedBelow = new Array[Int](next.length)
    var code = 0
    while (code < next.length - 1) {
      unmarkedBelow(code + 1) = unmarkedBelow(code) + (if (next(code) == code) 1 else 0)
      code += 1
    }
  }

  def contains(codes: Array[Int]): Boolean = {
    var i = 0
    while (i < codes.length && unmarkedBelow(codes(i + 1) + 1) == unmarkedBelow(codes(i))) i += 2
    i == codes.length
  }

  def codes: Array[Int] = {
    val intervals = new IntBuffer
    var code = 0
    while (code < next.length - 1) {
      if (next(code) == code) code += 1
      else {
        intervals += code
        while (next(code) != code) code += 1
        intervals += code - 1
      }
    }
    intervals.toArray
  }
}

private object Marks {

  /** These codes, to be asked what they contain. */
  def counted(column: ScanColumn, codes: Array[Int]): Marks = {
    val marks = new Marks(column)
    marks.add(codes)
    marks.count()
    marks
  }

  /** The codes that are in any of the sets. */
  def union(column: ScanColumn, sets: Iterable[Array[Int]]): Array[Int] = {
    val marks = new Marks(column)
    sets.foreach(marks.add)
    marks.codes
  }
}
