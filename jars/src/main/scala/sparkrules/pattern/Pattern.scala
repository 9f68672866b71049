package sparkrules.pattern

import java.nio.charset.StandardCharsets.UTF_8
import java.security.MessageDigest

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}

/**
 * What a row can fulfil.
 *
 * @param rule the id of the rule; a condition of the pattern's own is a rule with a hidden id
 * @param text the id, or the text of the condition
 */
final case class Term(rule: String, text: String)

/**
 * What is to be detected in the rows of one key, as docs/store-format.md describes it. Spans are microseconds.
 *
 * @param steps for each step its terms: a row that fulfils one of them fulfils the step
 * @param by the columns whose values are the key
 * @param after how much time must lie between the first and the last row of a sequence, at least
 * @param distinct the column whose values are counted, instead of rows
 * @param isOverlapping whether a row may be part of several detections
 * @param suppress for how long after a detection others are only counted; 0: not at all
 * @param metadata what its author has noted, as JSON
 * @param fingerprint differs between patterns that detect something else
 */
final case class Pattern(
    id: String,
    kind: Kind,
    steps: IndexedSeq[Seq[Term]],
    by: Seq[String],
    within: Long,
    after: Long,
    atLeast: Int,
    distinct: Option[String],
    isOverlapping: Boolean,
    suppress: Long,
    metadata: Option[String],
    fingerprint: String) {

  def isCounting: Boolean = kind == Kind.Count

  /** Whether it is an option of the rule with its id, and goes with that rule. */
  def belongsToRule: Boolean = kind == Kind.Change || kind == Kind.Match

  /** Whether something is reported when time has passed, and not only at a row. */
  def hasDeadlines: Boolean = kind == Kind.Absence || suppress > 0
}

/** What kind of a pattern it is. */
sealed abstract class Kind(val name: String) extends Product with Serializable

object Kind {

  /** One step after the other. */
  case object Sequence extends Kind("sequence")

  /** All steps, in any order. */
  case object Together extends Kind("together")

  /** Many rows, or many values of a column. */
  case object Count extends Kind("count")

  /** The first step, and then not the second. */
  case object Absence extends Kind("absence")

  /** From false, the second step, to true, the first. */
  case object Change extends Kind("change")

  /** Any row. */
  case object Match extends Kind("match")

  val All: Seq[Kind] = Seq(Sequence, Together, Count, Absence, Change, Match)
}

object Pattern {
  private val mapper = new ObjectMapper

  /** The patterns of a file of the store. */
  def read(content: Array[Byte]): Seq[Pattern] = {
    val patterns = mapper.readTree(content).path("patterns")
    if (!patterns.isArray) throw new IllegalArgumentException("it has no list of patterns")
    patterns.elements.asScala.map(of).toSeq
  }

  private def of(json: JsonNode): Pattern = {
    def text(name: String): Option[String] = Option(json.get(name)).filterNot(_.isNull).map(_.asText)
    def number(name: String, default: Long): Long =
      Option(json.get(name)).filterNot(_.isNull).fold(default) { number =>
        if (!number.canConvertToLong || !number.isIntegralNumber || number.asLong < 0) {
          throw new IllegalArgumentException(s"'$name' of a pattern is $number")
        }
        number.asLong
      }
    val id = text("id").getOrElse(throw new IllegalArgumentException("a pattern has no id"))
    val kind = Kind.All.find(kind => text("kind").contains(kind.name)).getOrElse(
      throw new IllegalArgumentException(s"pattern '$id' is of the unknown kind ${json.path("kind")}"))
    val steps = json.path("steps").elements.asScala.map(_.elements.asScala.map { term =>
      val (rule, shown) = if (term.has("rule")) ("rule", "rule") else ("condition", "where")
      if (!term.path(rule).isTextual) throw new IllegalArgumentException(s"a step of pattern '$id' is $term")
      Term(term.path(rule).asText, term.path(shown).asText)
    }.toSeq).toIndexedSeq
    if (steps.isEmpty || steps.length > MostSteps) {
      throw new IllegalArgumentException(s"pattern '$id' has ${steps.length} steps")
    }
    val atLeast = number("at_least", 1)
    if (atLeast < 1 || atLeast > Int.MaxValue) throw new IllegalArgumentException(s"pattern '$id' counts to $atLeast")
    Pattern(
      id,
      kind,
      steps,
      json.path("by").elements.asScala.map(_.asText).toSeq,
      number("within", 0),
      number("after", 0),
      atLeast.toInt,
      text("distinct"),
      json.path("overlapping").asBoolean(false),
      number("suppress", 0),
      Option(json.get("metadata")).filterNot(_.isNull).map(_.toString),
      fingerprint(json))
  }

  /** Of everything that decides what is detected. */
  private def fingerprint(json: JsonNode): String = {
    val deciding =
      Seq("kind", "steps", "by", "within", "after", "at_least", "distinct", "overlapping", "suppress").map(json.path)
    val digest = MessageDigest.getInstance("SHA-256").digest(deciding.mkString("\n").getBytes(UTF_8))
    digest.take(8).map(byte => f"$byte%02x").mkString
  }

  // An event says which steps it fulfils in the bits of a number.
  private val MostSteps = 32
}
