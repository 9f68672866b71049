package sparkrules.answer

import org.apache.spark.sql.catalyst.expressions.Expression

import sparkrules.kernel.{AskedRow, Asking, QuestionRunner}
import sparkrules.version.{OrderedMatches, VersionMatcher}

/**
 * Which calls of Python functions overlaps need: those that decide the matches of a row and, once these are known,
 * those that decide what several of them share. One for each task.
 *
 * @param matching asks for what decides the matches
 * @param inputs those of the parts' programs, one part after the other
 * @param calls how many different calls there are
 */
final class OverlapQuestions(
    matching: Asking, request: AnswerRequest, inputs: Seq[Expression], instant: Option[Long], calls: Int)
    extends Asking {
  private val matcher = new VersionMatcher(request.rules, inputs, instant)
  private val sharing = request.sharedNodes
  private val truths = matcher.parts.indices.map { p =>
    if (sharing.complexParts(p)) matcher.parts(p).codes.partialTruthOf(request.rules.parts(p).forest) else null
  }.toArray
  // Per number of a node: how many matches of the current row have it, at most two. All are 0 between rows.
  private val met = new Array[Byte](sharing.size)

  override def next(row: AskedRow): Int = {
    val call = matching.next(row)
    if (call != QuestionRunner.None || !(0 until calls).exists(row.isOpen)) call else shared(row)
  }

  private def shared(row: AskedRow): Int = {
    val matches = matcher.row(row).inOrder
    var first = QuestionRunner.None
    if (matches.count > 1) {
      visit(matches) { number =>
        if (met(number) == 1) {
          val call = sharing.openCall(number, matcher.parts, truths)
          if (call >= 0) first = math.min(first, call)
        }
        if (met(number) < 2) met(number) = (met(number) + 1).toByte
      }
      visit(matches)(met(_) = 0)
    }
    first
  }

  /** The nodes where each match can meet others. */
  private def visit(matches: OrderedMatches)(use: Int => Unit): Unit =
    (0 until matches.count).foreach { position =>
      sharing.nodes(matches.part(position))(matches.number(position)).foreach(use)
    }
}
