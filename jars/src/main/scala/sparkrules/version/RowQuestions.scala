package sparkrules.version

import org.apache.spark.sql.catalyst.expressions.Expression

import sparkrules.kernel.{AskedRow, Asking, NestedValues, QuestionRunner}

/**
 * Finds out which calls of Python functions a row needs, for all parts of a version; one for each task.
 *
 * @param inputs those of the parts' programs, one part after the other
 * @param calls how many different calls there are
 * @param needsAll whether all are made for every row, needed or not
 */
final class RowQuestions(
    rules: PinnedRules, inputs: Seq[Expression], instant: Option[Long], calls: Int, needsAll: Boolean)
    extends Asking {
  private val runners: Array[QuestionRunner] = {
    val starts = rules.parts.scanLeft(0)(_ + _.inputs)
    val nested = new NestedValues
    rules.parts.indices.filter(rules.parts(_).callsPython).map { p =>
      val (part, own) = (rules.parts(p), inputs.slice(starts(p), starts(p + 1)))
      new QuestionRunner(part.questions, part.program.slots, own, rules.hidden(p, instant), nested)
    }.toArray
  }

  /** The first of the calls that can decide a rule. */
  override def next(row: AskedRow): Int =
    if (needsAll) (0 until calls).find(row.isOpen).getOrElse(QuestionRunner.None)
    else {
      var first = QuestionRunner.None
      var i = 0
      while (i < runners.length) { first = math.min(first, runners(i).next(row)); i += 1 }
      first
    }
}
