package sparkrules.scan

import scala.collection.mutable.ArrayBuffer

import sparkrules.value.Codes

/** What a rule, or an alternative of one, needs of columns: of each of these, one of these codes. All must hold. */
final class Box(val columns: Array[Int], val codes: Array[Array[Int]]) {

  /** The codes that it needs of a column; null for anything. */
  def codesOf(column: Int): Array[Int] = {
    var i = columns.length - 1
    while (i >= 0 && columns(i) != column) i -= 1
    if (i < 0) null else codes(i)
  }

  def isNever: Boolean = codes.exists(_.isEmpty)
}

object Box {

  /** What predicates need together. */
  def of(predicates: Iterable[(Int, Array[Int])]): Box = {
    val (columns, codes) = (ArrayBuffer.empty[Int], ArrayBuffer.empty[Array[Int]])
    predicates.foreach { case (column, own) =>
      val i = columns.indexOf(column)
      if (i < 0) { columns += column; codes += own }
      else codes(i) = Codes.intersection(codes(i), own)
    }
    new Box(columns.toArray, codes.toArray)
  }
}
