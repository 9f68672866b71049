package sparkrules.kernel

import scala.collection.mutable
import scala.util.control.NonFatal

import org.apache.spark.sparkrules.RuleError
import org.apache.spark.sql.catalyst.expressions.{BasePredicate, BoundReference, Predicate}

import sparkrules.program.{Forest, Hidden, Program}
import sparkrules.value.Keys

/** The values that cannot be computed for the current row, and the rules that need them. */
final class RuleErrors private[kernel] (program: Program, codes: SlotCodes, hidden: Array[Long]) {
  import program.rules.{ids, wholeTexts}

  // Generated as for a WHERE clause: otherwise the order of evaluation, and so what fails, would differ slightly.
  private val wholeRules = mutable.HashMap.empty[Int, BasePredicate]

  /**
   * The rules that need a value which cannot be computed, needed for a match or not: the rule, the slot of the value
   * and the reason.
   *
   * @param forest that of the program
   */
  def find(forest: Forest): Seq[(Int, Int, Throwable)] = for {
    slot <- program.slots.fallible.toSeq
    if codes.of(slot) == Keys.ErrorCode
    reason = codes.reason(slot)
    rule <- forest.users(slot).toSeq
    if !Hidden.isHidden(hidden, rule)
  } yield (rule, slot, reason)

  /** Fails as the first rule would have failed, had Spark evaluated its whole text from left to right. */
  def requireNone(forest: Forest): Unit = find(forest).foreach { case (rule, slot, reason) =>
    // Spark computes constants before it sees a row.
    val isConstant = !codes.expressions(slot).exists {
      case _: BoundReference | _: CallResult => true
      case _ => false
    }
    if (isConstant || wholeTexts(rule) < 0) throw new RuleError(ids(rule).toString, reason)
    try evaluated(wholeRules.getOrElseUpdate(rule, Predicate.create(codes.expressions(wholeTexts(rule)))))
    catch { case NonFatal(e) => throw new RuleError(ids(rule).toString, e) }
  }

  // Spark calls Python for the rows that are left when all else has been evaluated: what is open decides nothing.
  private def evaluated(rule: BasePredicate): Boolean = codes.row match {
    case asked: AskedRow => asked.withOpenAsNull(rule.eval(asked))
    case row => rule.eval(row)
  }
}
