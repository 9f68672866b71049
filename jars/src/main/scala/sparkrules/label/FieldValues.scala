package sparkrules.label

import scala.collection.mutable

import sparkrules.store.{SegmentEntry, Store}

/** What the rules of a version have in a field: per part and rule, in Spark's representation. */
final class FieldValues(values: Array[Array[Any]], codes: Array[Array[Int]]) extends Serializable {
  def apply(part: Int, rule: Int): Any = values(part)(codes(part)(rule))
}

object FieldValues {

  /**
   * The rules of a part.
   *
   * @param numbers per rule of the segments, one segment after the other: its number in the program, or -1
   * @param rules how many rules the program has
   */
  final case class Part(segments: Seq[SegmentEntry], numbers: Array[Int], rules: Int)

  def of(store: Store, ruleSet: String, parts: Seq[Part], field: RuleField): FieldValues = {
    val columns = parts.map(column(store, ruleSet, _, field))
    new FieldValues(columns.map(_._1).toArray, columns.map(_._2).toArray)
  }

  private def column(store: Store, ruleSet: String, part: Part, field: RuleField): (Array[Any], Array[Int]) = {
    val values = mutable.ArrayBuffer[Any](null)
    val codes = new Array[Int](part.rules)
    var row = 0
    part.segments.foreach { entry =>
      val own = FieldColumn.of(store, ruleSet, entry, field.name)
      val start = values.length
      values ++= own.values.drop(1).map(field.valueOf)
      own.codes.foreach { code =>
        val number = part.numbers(row)
        if (number >= 0 && code != FieldColumn.Missing) codes(number) = start + code - 1
        row += 1
      }
    }
    (values.toArray, codes)
  }
}
