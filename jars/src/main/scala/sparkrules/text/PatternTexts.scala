package sparkrules.text

import scala.collection.mutable.ArrayBuffer

/** What a pattern looks for: strings that decide it, strings one after the other, or at least one that it needs. */
object PatternTexts {
  // More would only be found out to be there, and cost time and memory for each row.
  private val MostPieces = 8
  private val MostTurns = 64

  // A string of one byte is found in nearly every row, and more than once.
  private val LeastBytes = 2

  def apply(pattern: TextPattern): Option[Wanted] =
    TextPattern.all(pattern).filter(TextPattern.areTold).map(Wanted(_, Nil)).orElse(pattern match {
      case AnyOf(patterns) =>
        val each = patterns.map(apply)
        Option.when(each.forall(_.isDefined))(each.flatten.reduce(_ or _))
      case InTurn(patterns) => turns(patterns).orElse(needed(pattern))
      case _ => needed(pattern)
    })

  private def needed(pattern: TextPattern): Option[Wanted] = TextPattern.required(pattern).map(Wanted(Nil, _))

  /** Strings of which one is found, and what lies before. */
  private final case class Step(parts: Seq[Piece], gap: Gap)

  /** The rarest of them in all its forms, each with the others before and after it that have only one form. */
  private def turns(patterns: Seq[TextPattern]): Option[Wanted] = {
    val (steps, rest) = stepsOf(patterns)
    if (steps.isEmpty) None
    else {
      val rarest = steps.indices.minBy(i => TextPattern.weakness(steps(i).parts))
      val kept = ArrayBuffer.empty[(Step, Boolean)]
      var gap: Gap = Gap.Nothing
      steps.indices.foreach { i =>
        val Step(parts, before) = steps(i)
        gap = gap.andThen(before)
        val isKept = parts.length == 1 && parts.head.text.numBytes >= LeastBytes && kept.length < MostPieces
        if (i == rarest || isKept) {
          kept += ((Step(parts, gap), i == rarest))
          gap = Gap.Nothing
        } else gap = Gap.Unknown
      }
      val isAll = kept.head._1.gap == Gap.Nothing && gap.andThen(rest) == Gap.Nothing
      val forms = steps(rarest).parts
      Option.when(kept.length > 1 && forms.length <= MostTurns) {
        val own = forms.map { form =>
          Turn(kept.map { case (step, isRarest) => if (isRarest) form else step.parts.head }.toSeq,
            kept.map(_._1.gap).toSeq.tail, isAll)
        }
        Wanted(Nil, Nil, own)
      }
    }
  }

  /** What is found one after the other, and what lies after the last. */
  private def stepsOf(patterns: Seq[TextPattern]): (Seq[Step], Gap) = {
    val steps = ArrayBuffer.empty[Step]
    var run = Seq(Piece.Nothing)
    var gap: Gap = Gap.Nothing
    def endRun(): Unit = {
      if (TextPattern.areTold(run)) {
        steps += Step(run, gap)
        gap = Gap.Nothing
      } else if (run != Seq(Piece.Nothing)) gap = Gap.Unknown
      run = Seq(Piece.Nothing)
    }
    patterns.foreach { next =>
      val texts = TextPattern.all(next)
      texts.flatMap(TextPattern.joined(run, _)) match {
        case Some(longer) => run = longer
        case None =>
          endRun()
          next match {
            case _ if texts.isDefined =>
              // Strings that were too many to be joined; or that never can be, such as `$a`.
              gap = Gap.Unknown
              run = texts.get
            case AnyText => gap = gap.andThen(Gap.Anything)
            case characters: Run => gap = gap.andThen(Gap.of(characters))
            case _ =>
              TextPattern.required(next).foreach(parts => steps += Step(parts, Gap.Unknown))
              gap = Gap.Unknown
          }
      }
    }
    endRun()
    (steps.toSeq, gap)
  }
}
