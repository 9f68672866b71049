package sparkrules.text

import java.util.regex.Pattern.{CASE_INSENSITIVE, DOTALL, UNICODE_CASE}
import java.util.regex.{Pattern, PatternSyntaxException}

/** A regular expression of Java, parsed. */
sealed abstract class Regex {

  /** Whether an automaton can decide it: matches do not depend on the order of Java's search. */
  def isRegular: Boolean

  /** Whether it matches the empty string at every place. */
  def isOptional: Boolean

  /** Whether it can read characters. */
  def reads: Boolean

  /** In how many ways it matches the empty string. */
  def emptyWays: Double

  /** How many attempts Java can make without reading a character: `(?:(?:){1000}){1000}` makes a million. */
  def blindTries: Double

  /** How many parts it has. */
  def size: Double
}

object Regex {

  /** The length from which on a pattern is treated with care. */
  private val Long = 1000

  /**
   * Java's pattern. Java prepares a search for a long string in time that grows with the cube of its length: 15 s for
   * 40,000 equal letters. It does not if something comes before the string.
   */
  def compiled(regex: String, flags: Int = 0): Pattern =
    Pattern.compile(if (regex.length > Long) "(?:)" + regex else regex, flags)

  def isValid(regex: String): Boolean =
    try { compiled(regex); true }
    catch { case _: PatternSyntaxException | _: StackOverflowError => false }
}

/** One character out of a set. */
sealed abstract class CharacterSet extends Regex {
  def isOptional: Boolean = false
  def reads: Boolean = true
  def emptyWays: Double = 0
  def blindTries: Double = 1
  def size: Double = 1

  /** Texts of more than one `char` do not get here: see [[RegexAutomaton]]. */
  def contains(c: Char): Boolean
}

/** A character that stands for itself, perhaps in any case. */
final case class Letter(c: Int, flags: Int) extends CharacterSet {
  def anyCase: Boolean = (flags & CASE_INSENSITIVE) != 0
  def isUnicodeCase: Boolean = anyCase && (flags & UNICODE_CASE) != 0

  /** Java compares a letter outside ASCII in one way if it stands alone, and in another beside others. */
  def isRegular: Boolean = c < 128 || !isUnicodeCase

  @transient private lazy val pattern = Pattern.compile(Pattern.quote(Character.toString(c)), flags)
  def contains(other: Char): Boolean = other == c || anyCase && pattern.matcher(String.valueOf(other)).matches()
}

/**
 * Any other set, as it is written: `\w`, `[^a-z]`, `.`. Java decides what is in it.
 *
 * @param members its characters, if it is an enumeration of a few
 */
final case class Characters(text: String, flags: Int, members: Seq[Int] = Nil) extends CharacterSet {
  def isRegular: Boolean = true
  def isAny: Boolean = text == "." && (flags & DOTALL) != 0

  @transient private lazy val pattern = Pattern.compile(text, flags)
  def contains(c: Char): Boolean = pattern.matcher(String.valueOf(c)).matches()
}

final case class Sequence(parts: Seq[Regex]) extends Regex {
  lazy val isRegular: Boolean = parts.forall(_.isRegular)
  lazy val isOptional: Boolean = parts.forall(_.isOptional)
  lazy val reads: Boolean = parts.exists(_.reads)
  lazy val emptyWays: Double = parts.map(_.emptyWays).product
  lazy val blindTries: Double = 1 + parts.foldRight(0.0)((part, rest) => part.blindTries + part.emptyWays * rest)
  lazy val size: Double = 1 + parts.map(_.size).sum
}

final case class Choice(parts: Seq[Regex]) extends Regex {
  lazy val isRegular: Boolean = parts.forall(_.isRegular)
  lazy val isOptional: Boolean = parts.exists(_.isOptional)
  lazy val reads: Boolean = parts.exists(_.reads)
  lazy val emptyWays: Double = parts.map(_.emptyWays).sum
  lazy val blindTries: Double = 1 + parts.map(_.blindTries).sum
  lazy val size: Double = 1 + parts.map(_.size).sum
}

/** @param most -1 if there is no bound */
final case class Repeat(part: Regex, least: Int, most: Int, isPossessive: Boolean) extends Regex {
  // Java counts rounds that read nothing in its own way.
  lazy val isRegular: Boolean =
    part.isRegular && !isPossessive && (least <= 1 && (most <= 1) || !part.reads || part.emptyWays == 0)
  lazy val isOptional: Boolean = least == 0 || part.isOptional
  lazy val reads: Boolean = part.reads
  // Java stops repeating after an empty round, unless it has to go on.
  lazy val emptyWays: Double = (if (least > 0) math.pow(part.emptyWays, least) else 1 + part.emptyWays)
  lazy val blindTries: Double = {
    val ways = part.emptyWays
    val rounds = if (ways <= 1) 1 + ways * least else math.pow(ways, least.toDouble + 1)
    1 + part.blindTries * rounds
  }
  lazy val size: Double = 1 + part.size
}

/** A place in the string. */
final case class Place(where: Where) extends Regex {
  def isRegular: Boolean = true
  def isOptional: Boolean = false
  def reads: Boolean = false
  def emptyWays: Double = 1
  def blindTries: Double = 1
  def size: Double = 1
}

sealed abstract class Where
object Where {
  case object TextStart extends Where
  case object TextEnd extends Where

  /** At the end, or before the line terminator at the end of the string: `$`, `\Z`. */
  case object LastLineEnd extends Where
  case object LineStart extends Where
  case object LineEnd extends Where
  case object WordBoundary extends Where
  case object NoWordBoundary extends Where
}

/**
 * What no automaton decides: look-around, back-references, groups that are not tried again. `part` is what is in it.
 */
final case class Irregular(part: Option[Regex]) extends Regex {
  def isRegular: Boolean = false
  def isOptional: Boolean = false
  def reads: Boolean = true
  def emptyWays: Double = 1
  lazy val blindTries: Double = 1 + part.fold(0.0)(_.blindTries)
  lazy val size: Double = 1 + part.fold(0.0)(_.size)
}
