package sparkrules.text

import java.util.regex.Pattern.{CASE_INSENSITIVE, DOTALL, MULTILINE, UNICODE_CASE}

import scala.collection.mutable.ArrayBuffer
import scala.util.matching.{Regex => Syntax}

/**
 * Reads the regular expressions of Java: characters, classes, groups, alternatives, quantifiers, anchors, look-around,
 * back-references, quotations and the flags `i`, `u`, `s` and `m`. An expression with anything else is not read at all,
 * because its end would be unknown.
 */
object RegexReader {

  /** @param flags the initial flags of `Pattern` */
  def apply(regex: String, flags: Int = 0): Option[Regex] =
    if ((flags & ~Known) != 0 || !Regex.isValid(regex)) None
    else {
      try Some(new RegexReader(unquoted(regex), flags).read())
      catch { case NotRead => None }
    }

  private object NotRead extends RuntimeException(null, null, false, false)

  private val Known = CASE_INSENSITIVE | UNICODE_CASE | DOTALL | MULTILINE
  private val Letters = Map('i' -> CASE_INSENSITIVE, 'u' -> UNICODE_CASE, 's' -> DOTALL, 'm' -> MULTILINE)

  private val Deepest = 100
  private val MostMembers = 8
  private val Quantifier = """(?:[*+?]|\{(\d{1,10})(?:(,)(\d{0,10}))?\})([?+]?)""".r
  private val Opening = """\?(?::|<[a-zA-Z][a-zA-Z0-9]*>)""".r
  private val Looking = """\?(?:<?[=!]|>)""".r
  private val Flags = """\?([iusm]*)(?:-([iusm]+))?([:)])""".r
  private val Property = """[pP](?:\{[^{}\\]*\}|[A-Z])""".r
  private val Coded = """x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|x\{([0-9a-fA-F]{1,6})\}""".r

  private val Octal = """[0-3][0-7]{2}|[0-7]{1,2}""".r

  private val Controls = Map('t' -> '\t', 'n' -> '\n', 'r' -> '\r', 'f' -> '\f', 'a' -> '\u0007', 'e' -> '\u001b')
  private val Classes = "dDwWsShHvV".toSet

  /** `a\Q.*\E` -> `a\.\*`, as Java begins, too. */
  private def unquoted(regex: String): String =
    if (!regex.contains("\\Q")) regex
    else {
      val plain = new StringBuilder
      var at = 0
      while (at < regex.length) {
        if (regex.startsWith("\\Q", at)) {
          val end = regex.indexOf("\\E", at + 2)
          regex.substring(at + 2, if (end < 0) regex.length else end).foreach { c =>
            if (c < 128 && !Character.isLetterOrDigit(c)) plain += '\\'
            plain += c
          }
          at = if (end < 0) regex.length else end + 2
        } else {
          val length = if (regex.charAt(at) == '\\') 2 else 1
          plain ++= regex.substring(at, math.min(at + length, regex.length))
          at += length
        }
      }
      plain.result()
    }
}

private final class RegexReader(regex: String, initial: Int) {
  import RegexReader._

  private var at = 0
  private var depth = 0
  private var flags = initial

  def read(): Regex = {
    val all = alternatives()
    if (at < regex.length) throw NotRead
    all
  }

  private def alternatives(): Regex = {
    val branches = ArrayBuffer(sequence())
    while (skipped('|')) branches += sequence()
    if (branches.length == 1) branches.head else Choice(branches.toSeq)
  }

  private def sequence(): Regex = {
    val parts = ArrayBuffer.empty[Regex]
    while (at < regex.length && peek != '|' && peek != ')') item().foreach(parts += quantified(_))
    if (parts.length == 1) parts.head else Sequence(parts.toSeq)
  }

  /** None for flags. */
  private def item(): Option[Regex] = next() match {
    case '(' => bracket()
    case '[' => Some(characterClass())
    case '.' => Some(Characters(".", flags))
    case '^' => Some(Place(if (has(MULTILINE)) Where.LineStart else Where.TextStart))
    case '$' => Some(Place(if (has(MULTILINE)) Where.LineEnd else Where.LastLineEnd))
    case '\\' => Some(escaped())
    case '*' | '+' | '?' | '{' => throw NotRead
    case _ =>
      at -= 1
      val c = regex.codePointAt(at)
      at += Character.charCount(c)
      Some(Letter(c, flags))
  }

  private def escaped(): Regex = {
    val start = at
    next() match {
      case 'A' => Place(Where.TextStart)
      case 'z' => Place(Where.TextEnd)
      case 'Z' => Place(Where.LastLineEnd)
      case 'b' if !lookingAt('{') => Place(Where.WordBoundary)
      case 'B' => Place(Where.NoWordBoundary)
      case 'G' | 'R' | 'X' => Irregular(None)
      case '0' => Letter(Integer.parseInt(skip(Octal), 8), flags)
      case 'c' => Letter(next() ^ 64, flags)
      case 'k' => skip("""<[a-zA-Z][a-zA-Z0-9]*>""".r); Irregular(None)
      case c if c >= '1' && c <= '9' =>
        // Of several digits Java takes as many as there are groups.
        if (at < regex.length && Character.isDigit(peek)) throw NotRead
        Irregular(None)
      case 'p' | 'P' => at = start; Characters("\\" + skip(Property), flags)
      case 'x' | 'u' => at = start; Letter(coded(), flags)
      case c if Classes(c) => Characters(s"\\$c", flags)
      case c if Controls.contains(c) => Letter(Controls(c).toInt, flags)
      case c if c < 128 && !Character.isLetterOrDigit(c) => Letter(c.toInt, flags)
      case _ => throw NotRead
    }
  }

  private def coded(): Int = {
    val Coded(two, four, many) = skip(Coded): @unchecked
    val c = Integer.parseInt(Seq(two, four, many).find(_ != null).get, 16)
    // Java puts two halves of a character together.
    if (c >= Character.MIN_SURROGATE && c <= Character.MAX_SURROGATE) throw NotRead
    c
  }

  private def bracket(): Option[Regex] = {
    val outer = flags
    depth += 1
    if (depth > Deepest) throw NotRead
    val isIrregular = prefix(Looking).isDefined
    val found =
      if (!isIrregular && prefix(Opening).isEmpty && lookingAt('?') && setFlags()) None
      else {
        val inner = alternatives()
        if (!skipped(')')) throw NotRead
        flags = outer
        Some(if (isIrregular) Irregular(Some(inner)) else inner)
      }
    depth -= 1
    found
  }

  /** Reads flags; whether they are for the rest of the group around them, and not for one of their own. */
  private def setFlags(): Boolean = {
    val Flags(on, off, end) = skip(Flags): @unchecked
    on.foreach(c => flags |= Letters(c))
    Option(off).foreach(_.foreach(c => flags &= ~Letters(c)))
    end == ")"
  }

  private def characterClass(): Regex = {
    val start = at - 1
    val members = ArrayBuffer.empty[Int]
    var isPlain = !lookingAt('^')
    var open = 1
    skipped('^')
    if (lookingAt(']')) throw NotRead
    while (open > 0) {
      next() match {
        case '[' =>
          open += 1
          isPlain = false
          skipped('^')
          if (lookingAt(']')) throw NotRead
        case ']' => open -= 1
        case '&' if lookingAt('&') =>
          at += 1
          isPlain = false
          if (lookingAt(']') || lookingAt('&')) throw NotRead
        case '-' | '^' => isPlain = false
        case '\\' =>
          val c = next()
          if (c < 128 && !Character.isLetterOrDigit(c)) members += c.toInt
          else if (Controls.contains(c) || Classes(c)) isPlain = false
          else {
            at -= 1
            if (prefix(Coded).isEmpty) skip(Property)
            isPlain = false
          }
        case c if c < 128 => members += c.toInt
        case _ => isPlain = false
      }
    }
    val isFew = isPlain && members.length <= MostMembers
    Characters(regex.substring(start, at), flags, if (isFew) members.toSeq else Nil)
  }

  private def quantified(part: Regex): Regex =
    if (!isQuantified) part
    else {
      val quantifier = skip(Quantifier)
      val Quantifier(least, comma, most, manner) = quantifier: @unchecked
      // What stands here would have to be a character.
      if (isQuantified) throw NotRead
      val (from, to) = quantifier.head match {
        case '*' => (0, -1)
        case '+' => (1, -1)
        case '?' => (0, 1)
        case _ => (least.toInt, if (comma == null) least.toInt else if (most.isEmpty) -1 else most.toInt)
      }
      Repeat(part, from, to, manner == "+")
    }

  private def isQuantified: Boolean = lookingAt('*') || lookingAt('+') || lookingAt('?') || lookingAt('{')

  private def has(flag: Int): Boolean = (flags & flag) != 0

  private def peek: Char = regex.charAt(at)

  private def lookingAt(c: Char): Boolean = at < regex.length && peek == c

  private def skipped(c: Char): Boolean = {
    val is = lookingAt(c)
    if (is) at += 1
    is
  }

  private def next(): Char = {
    if (at == regex.length) throw NotRead
    at += 1
    regex.charAt(at - 1)
  }

  private def prefix(expected: Syntax): Option[String] = {
    val matcher = expected.pattern.matcher(regex).region(at, regex.length)
    Option.when(matcher.lookingAt()) { at = matcher.end; matcher.group }
  }

  private def skip(expected: Syntax): String = prefix(expected).getOrElse(throw NotRead)
}
