package sparkrules.text

import scala.collection.mutable

import sparkrules.value.IntLists

/**
 * Strings that are found one after the other, in flat arrays.
 *
 * @param lengths per mark: the bytes of its string
 * @param begun per mark: the turns whose rarest string it is
 * @param predicates per turn: the index of the predicate that it decides
 * @param inTurn per turn: its marks
 * @param gapsBefore for each of these the number of what lies between it and the one before
 * @param gaps what can lie there
 */
private[sparkrules] final class Marks(
    val lengths: Array[Int],
    val begun: IntLists,
    val predicates: Array[Int],
    val inTurn: IntLists,
    val gapsBefore: Array[Int],
    val gaps: Array[Gap],
    val isAll: Array[Boolean])
    extends Serializable

private[text] object Marks {

  /** The turns of predicates; and per mark its string. */
  def of(turns: Array[(Int, Turn)]): (Marks, Array[Piece]) = {
    val numbers = mutable.LinkedHashMap.empty[Piece, Int]
    val gaps = mutable.LinkedHashMap.empty[Gap, Int]
    val inTurn = turns.map { case (_, turn) =>
      turn.pieces.map(piece => numbers.getOrElseUpdate(piece, numbers.size)).toArray
    }
    val before = turns.flatMap { case (_, turn) =>
      (Gap.Nothing +: turn.gaps).map(gap => gaps.getOrElseUpdate(gap, gaps.size))
    }
    val begun = turns.indices.map(t => inTurn(t)(turns(t)._2.rarest)).toArray
    val pieces = numbers.keys.toArray
    val marks = new Marks(
      pieces.map(_.text.numBytes),
      IntLists.group(pieces.length, begun, turns.indices.toArray),
      turns.map(_._1),
      IntLists(inTurn),
      before,
      gaps.keys.toArray,
      turns.map(_._2.isAll))
    (marks, pieces)
  }
}
