package sparkrules.bind

import sparkrules.store.{Manifest, SegmentEntry}

/**
 * What a call asks of a rule set: which rules are true for a row, or which could be true in a region.
 *
 * @param function a function that asks it, for messages
 */
sealed abstract class Question(val function: String, noun: String) extends Product with Serializable {

  /** The segments of the rules that the question is about. */
  def segments(manifest: Manifest): Seq[SegmentEntry] = manifest.segments

  /** Whether these rules have been pruned. */
  def isGeneral(manifest: Manifest): Boolean = manifest.isGeneral

  /** `1 rule`, `3 rules`. */
  final def counted(count: Int): String = if (count == 1) s"1 $noun" else s"$count $plural"

  final def plural: String = s"${noun}s"
}

object Question {

  /** Which rules match a row? */
  case object Match extends Question("match_subscriptions", "rule")

  /** Which patterns do rows make? The conditions of patterns are bound and compiled as rules are. */
  case object Detect extends Question("detect_patterns", "rule") {
    override def segments(manifest: Manifest): Seq[SegmentEntry] = manifest.segments ++ manifest.conditions
  }

  /**
   * Which could be true for some row of a region?
   *
   * @param anyFunction the function that asks whether there is any
   */
  sealed abstract class OfRegion(function: String, val anyFunction: String, noun: String)
      extends Question(function, noun)

  case object RulesOfRegion extends OfRegion("overlap_subscriptions", "overlap_any_subscription", "rule")

  /** Advertisements are bound and compiled as rules are; a version keeps them in a segment of their own. */
  case object AdvertisementsOfRegion
      extends OfRegion("overlap_advertisements", "overlap_any_advertisement", "advertisement") {
    override def segments(manifest: Manifest): Seq[SegmentEntry] = manifest.advertisements.toSeq
    // The mark is about rules.
    override def isGeneral(manifest: Manifest): Boolean = false
  }
}
