package sparkrules.answer

import sparkrules.label.{FieldValues, RuleField}
import sparkrules.overlap.{CommonNodes, SharedNodes}
import sparkrules.value.LazyBroadcast
import sparkrules.version.PinnedRules

/**
 * What a query wants to know of the matches of some rules, as executors get it. Made on the driver: if overlaps are
 * among the answers, it takes along what they need.
 */
final case class AnswerRequest(rules: PinnedRules, answers: Seq[Answer]) {

  /** Whether overlaps are wanted. */
  val hasOverlaps: Boolean = answers.exists(AnswerRequest.areOverlaps)

  private val commonNodes: Option[LazyBroadcast[CommonNodes]] = Option.when(hasOverlaps)(rules.commonNodes)

  private val fields: Map[RuleField, LazyBroadcast[FieldValues]] =
    answers.flatMap(_.fields).distinct.map(field => field -> rules.fields(field)).toMap

  /** What the rules have in a field that is wanted. */
  def values(field: RuleField): FieldValues = fields(field).value

  /** Where rules can share subexpressions, if overlaps are wanted. */
  def sharedNodes: SharedNodes = commonNodes.get.value.sharedNodes(rules.parts.map(_.forest).toArray)
}

object AnswerRequest {
  private def areOverlaps(answer: Answer): Boolean = answer match {
    case Answer.Overlaps | Answer.Overlap => true
    case rows: Answer.Rows => rows.of.contains(Answer.Overlap)
    case _ => false
  }
}
