package sparkrules.kernel

import org.apache.spark.sql.catalyst.expressions.Expression

import sparkrules.program.{CompiledSlots, Hidden, Questions}

/** Says which call of a Python function a row needs next, or [[QuestionRunner.None]]. */
trait Asking {
  def next(row: AskedRow): Int
}

/**
 * Finds out which call of a Python function a row needs next, so that the rules of a program are decided; one for each
 * task.
 *
 * @param inputs the program's inputs, as for a [[Runner]]
 * @param hidden the rules that do not take part, as [[Hidden]] gives them
 */
final class QuestionRunner(
    questions: Questions, slots: CompiledSlots, inputs: Seq[Expression], hidden: Array[Long], nested: NestedValues)
    extends Asking {
  private val codes = new SlotCodes(slots, inputs, nested)
  private val found = new FoundRules(questions.size, questions.code.hasRepeats, unneeded, codes)
  private val interpreter = new Interpreter(questions.code, codes, found)
  private val rules = codes.partialTruthOf(questions.rules)
  // Per question: the call that it asks for, or as in `Questions`.
  private val asked = questions.asked.map { input =>
    if (input < 0) input else inputs(input).asInstanceOf[CallResult].call
  }

  override def next(row: AskedRow): Int = {
    codes.startRow(row)
    found.clear()
    interpreter.execute(0)
    found.hideFrom(0)
    var first = QuestionRunner.None
    val (numbers, count) = (found.inAnyOrder, found.count)
    var i = 0
    while (i < count) {
      val own = asked(numbers(i))
      val call = if (own < 0) rules.callFor(questions.rules.roots(-1 - own)) else if (row.isOpen(own)) own else -1
      if (call >= 0 && call < first) first = call
      i += 1
    }
    first
  }

  /** The questions of hidden rules only. */
  private def unneeded: Array[Long] =
    if (hidden == null) null
    else {
      val bits = new Array[Long]((questions.size + 63) >> 6)
      (0 until questions.size).foreach { q =>
        if (questions.users(q).forall(Hidden.isHidden(hidden, _))) bits(q >> 6) |= 1L << q
      }
      bits
    }
}

object QuestionRunner {

  /** No call. */
  final val None = Int.MaxValue
}
