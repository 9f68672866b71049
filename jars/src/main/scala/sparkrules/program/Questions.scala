package sparkrules.program

import sparkrules.value.IntLists

/**
 * Which Python functions a row needs, asked before it is matched. A question is a condition without calls that have not
 * been made: where it is true, a call can still decide a rule.
 *
 * @param code reports the questions that are true of a row
 * @param asked per question: the input that has the result of the call it asks for; or, if it is negative, -1 less the
 *   root in `rules` of a rule that is too complex for a condition, and must be looked at
 * @param users per question: the rules that it serves
 * @param rules the rules that must be looked at
 */
final class Questions(val code: Instructions, val asked: Array[Int], val users: IntLists, val rules: Forest)
    extends Serializable {
  def size: Int = asked.length
}

object Questions {

  /** By which calls are ordered: the cheapest first; of those that cost the same, what more rules may need. */
  def rank(microseconds: Double, rules: Int): (Double, Int) = (microseconds, -rules)
}
