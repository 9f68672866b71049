package sparkrules.scan

import sparkrules.value.Codes

/** What a rule, or an alternative of one, needs of columns: of each of these, one of these codes. All must hold. */
final class Box(val columns: Array[Int], val codes: Array[Array[Int]]) {

  /** The codes that it needs of a column; null for anything. */
  def codesOf(column: Int): Array[Int] = {
    val i = columns.indexOf(column)
    if (i < 0) null else codes(i)
  }

  def isNever: Boolean = codes.exists(_.isEmpty)
}

object Box {

  /** What predicates need together. */
  def of(predicates: Iterable[(Int, Array[Int])]): Box = {
    val merged = predicates.groupMapReduce(_._1)(_._2)(Codes.intersection(_, _)).toArray.sortBy(_._1)
    new Box(merged.map(_._1), merged.map(_._2))
  }
}
