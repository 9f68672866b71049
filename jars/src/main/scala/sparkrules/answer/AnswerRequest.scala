package sparkrules.answer

import sparkrules.overlap.{CommonNodes, SharedNodes}
import sparkrules.version.{LazyBroadcast, PinnedRules}

/**
 * What a query wants to know of the matches of some rules, as executors get it. Made on the driver: if overlaps are
 * among the answers, it takes along what they need.
 */
final case class AnswerRequest(rules: PinnedRules, answers: Seq[Answer]) {

  /** Whether overlaps are wanted. */
  val hasOverlaps: Boolean = answers.exists(AnswerRequest.areOverlaps)

  private val commonNodes: Option[LazyBroadcast[CommonNodes]] = Option.when(hasOverlaps)(rules.commonNodes)

  /** Where rules can share subexpressions, if overlaps are wanted. */
  def sharedNodes: SharedNodes = commonNodes.get.value.sharedNodes(rules.parts.map(_.forest).toArray)
}

object AnswerRequest {
  private val areOverlaps: Answer => Boolean = Set(Answer.Overlaps, Answer.Overlap, Answer.Rows)
}
