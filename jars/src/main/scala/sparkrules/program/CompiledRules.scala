package sparkrules.program

/**
 * The rules of a program, numbered in the order in which they are reported: highest priority first, then by id.
 *
 * @param validity when they can match
 * @param wholeTexts per rule, if rules are to fail as Spark's WHERE would: the slot of its whole text, or -1
 */
final class CompiledRules(
    val ids: Ids, val priorities: Array[Int], val validity: Validity, val wholeTexts: Array[Int])
    extends Serializable {

  def size: Int = ids.size

  /** Whether rules fail as Spark's WHERE would. */
  def areStrict: Boolean = wholeTexts.nonEmpty
}
