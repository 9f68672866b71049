package sparkrules.kernel

import java.util.Arrays

import sparkrules.program.Forest
import sparkrules.value.Codes

/** Which nodes of a forest are true for the current row. Each is computed at most once per row. */
final class Truth private[kernel] (val forest: Forest, codes: SlotCodes) extends Stamped {
  import forest._

  // Per node, of the last row that asked: twice the row's stamp, plus one if it was true.
  private val answers = new Array[Int](forest.size)

  def of(node: Int): Boolean = {
    val answer = answers(node)
    val stamp = codes.stamp
    if ((answer >> 1) == stamp) (answer & 1) == 1
    else {
      val value = kinds(node) match {
        case Forest.Predicate =>
          Codes.contains(intervals.values, intervals.start(node), intervals.end(node), codes.of(slots(node)))
        case Forest.And => allTrue(node)
        case _ => anyTrue(node)
      }
      answers(node) = 2 * stamp + (if (value) 1 else 0)
      value
    }
  }

  override def forget(): Unit = Arrays.fill(answers, 0)

  private def allTrue(node: Int): Boolean = {
    var i = children.start(node)
    val end = children.end(node)
    while (i < end && of(children.values(i))) i += 1
    i == end
  }

  private def anyTrue(node: Int): Boolean = {
    var i = children.start(node)
    val end = children.end(node)
    while (i < end && !of(children.values(i))) i += 1
    i < end
  }
}
