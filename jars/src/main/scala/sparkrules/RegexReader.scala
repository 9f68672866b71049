package sparkrules

import java.util.regex.{Pattern, PatternSyntaxException}

import scala.collection.mutable.ArrayBuffer
import scala.util.matching.Regex

/**
 * Reads the regular expressions of Java that need no thought: characters, classes, groups, alternatives, quantifiers,
 * anchors and the flags `i`, `u`, `s` and `m`. With any other it is not read at all, for who knows where that ends.
 */
object RegexReader {
  // Stands for bytes that are not UTF-8, and so is not found by its own.
  final val Replacement = 0xfffd

  private val Longest = 100000

  /**
   * What the regular expression means, and what to doubt it for: with the flags `i` and `u`, a text with one of these
   * characters may have more of what is sought than ASCII letters of either case.
   */
  def apply(regex: String): Option[(TextPattern, Seq[Part])] =
    if (regex.length > Longest || !isRegex(regex)) None
    else {
      try Some(new RegexReader(regex).read())
      catch { case NotRead => None }
    }

  private def isRegex(regex: String): Boolean =
    try {
      // Second in the pattern, a long literal is not prepared for search: see BoundedTest.
      Pattern.compile(if (regex.length > BoundedRegex.Long) "(?:)" + regex else regex)
      true
    } catch { case _: PatternSyntaxException | _: StackOverflowError => false }

  private object NotRead extends RuntimeException(null, null, false, false)

  private val Deepest = 100
  private val MostMembers = 8
  private val Quantifier = """(?:[*+?]|\{(\d{1,9})(?:,\d{0,9})?\})([?+]?)""".r
  private val Opening = """\?(?::|<[a-zA-Z][a-zA-Z0-9]*>)""".r
  private val Looking = """\?(?:<?[=!]|>)""".r
  private val Flags = """\?([iusm]*)(?:-([iusm]+))?([:)])""".r
  private val Property = """[pP](?:\{[^{}\\]*\}|[A-Z])""".r

  private val Controls = Map('t' -> '\t', 'n' -> '\n', 'r' -> '\r', 'f' -> '\f', 'a' -> '\u0007', 'e' -> '\u001b')
  private val Classes = "dDwWsShHvV".toSet

  // Where the last line ends: at its end, or before a terminator that ends the text.
  private val LastEnd: TextPattern = OneOf(Seq("", "\n", "\r\n", "\r", "\u0085", "\u2028", "\u2029").map { terminator =>
    Part.of(terminator, anyCase = false).copy(atEnd = true)
  })
}

private final class RegexReader(regex: String) {
  import RegexReader._

  private var at = 0
  private var depth = 0
  private var flags = Set.empty[Char]
  private var hasReturn = false
  private var hasTwins = false
  private var hasLastEnd = false

  def read(): (TextPattern, Seq[Part]) = {
    val pattern = alternatives()
    // `$` is not between \r and \n, which is more than the texts of LastEnd say.
    if (at < regex.length || hasReturn && hasLastEnd) throw NotRead
    (pattern, if (hasTwins) UnicodeCase.twinsOfAscii.map(Part(_)) else Nil)
  }

  private def alternatives(): TextPattern = {
    val branches = ArrayBuffer(sequence())
    while (skipped('|')) branches += sequence()
    TextPattern.anyOf(branches.toSeq)
  }

  private def sequence(): TextPattern = {
    val patterns = ArrayBuffer.empty[TextPattern]
    val literal = new StringBuilder
    var literalFolds = false
    def flush(): Unit = if (literal.nonEmpty) {
      patterns += texts(Seq(literal.result()), literalFolds)
      literal.clear()
    }
    while (at < regex.length && peek != '|' && peek != ')') {
      character() match {
        case Some(c) if !isQuantified =>
          if (literalFolds != flags('i')) flush()
          literalFolds = flags('i')
          literal ++= c
        case Some(c) => flush(); patterns += quantified(texts(Seq(c), flags('i')))
        case None => flush(); group().foreach(patterns += quantified(_))
      }
    }
    flush()
    if (patterns.isEmpty) TextPattern.Empty else TextPattern.inTurn(patterns.toSeq)
  }

  private def texts(all: Seq[String], anyCase: Boolean): TextPattern = OneOf(all.map(Part.of(_, anyCase)).distinct)

  /** The character that stands here for itself, if one does. */
  private def character(): Option[String] = {
    val c = regex.codePointAt(at)
    val literal = if (c == '\\') escaped else Some(c).filterNot(c => "[(.^$".indexOf(c) >= 0 || isDoubtful(c))
    if (literal.exists(c => "*+?{".indexOf(c) >= 0 && peek != '\\')) throw NotRead
    literal.map { found =>
      at += (if (peek == '\\') 2 else Character.charCount(c))
      if (found == '\r') hasReturn = true
      if (isUnicodeCase && UnicodeCase.hasTwin(found)) hasTwins = true
      Character.toString(found)
    }
  }

  /** Whether a character stands for others that are not told by its bytes. */
  private def isDoubtful(c: Int): Boolean = c == Replacement || c > 127 && isUnicodeCase && UnicodeCase.hasTwin(c)

  private def isUnicodeCase: Boolean = flags('i') && flags('u')

  /** The character after a backslash, if it is what the two stand for. */
  private def escaped: Option[Int] = {
    val c = if (at + 1 < regex.length) regex.charAt(at + 1) else throw NotRead
    if (c > 127) throw NotRead
    else if (!Character.isLetterOrDigit(c)) Some(c.toInt)
    else Controls.get(c).map(_.toInt)
  }

  /** What is not a single character; none for flags. */
  private def group(): Option[TextPattern] = next() match {
    case '(' => bracket()
    case '[' => Some(characterClass())
    case '.' if flags('s') => Some(AnyCharacter)
    case '^' if !flags('m') => Some(TextPattern.Start)
    case '$' if !flags('m') => hasLastEnd = true; Some(LastEnd)
    case '.' | '^' | '$' => Some(Something)
    case '\\' => Some(construct())
    case _ =>
      at -= 1
      at += Character.charCount(regex.codePointAt(at))
      Some(Something)
  }

  private def construct(): TextPattern = next() match {
    case 'A' => TextPattern.Start
    case 'z' => TextPattern.End
    case 'b' | 'B' | 'Z' | 'R' => Something
    case c if Classes(c) => Something
    case 'p' | 'P' =>
      at -= 1
      skip(Property)
      Something
    case _ => throw NotRead
  }

  private def bracket(): Option[TextPattern] = {
    val outer = flags
    depth += 1
    if (depth > Deepest) throw NotRead
    val isLooking = prefix(Looking).isDefined
    val found =
      if (!isLooking && prefix(Opening).isEmpty && lookingAt('?') && setFlags()) None
      else {
        val pattern = alternatives()
        if (!skipped(')')) throw NotRead
        flags = outer
        Some(if (isLooking) Something else pattern)
      }
    depth -= 1
    found
  }

  /** Reads flags; whether they are for the rest of the group around them, and not for one of their own. */
  private def setFlags(): Boolean = {
    val Flags(on, off, end) = skip(Flags): @unchecked
    flags = flags ++ on.toSet -- Option(off).toSeq.flatten
    end == ")"
  }

  private def characterClass(): TextPattern = {
    val members = ArrayBuffer.empty[String]
    var isPlain = !skipped('^')
    if (lookingAt(']')) throw NotRead
    while (!lookingAt(']')) {
      next() match {
        case '[' => throw NotRead
        case '&' if lookingAt('&') => throw NotRead
        case '-' | '^' => isPlain = false
        case '\\' =>
          val c = next()
          if (c < 128 && !Character.isLetterOrDigit(c)) members += c.toString
          else if (Controls.contains(c) || Classes(c)) isPlain = false
          else { at -= 1; skip(Property); isPlain = false }
        case c if c < 128 => members += c.toString
        case _ => isPlain = false
      }
    }
    at += 1
    val isFew = members.length <= MostMembers && !(isUnicodeCase && members.exists(_.head.isLetter))
    if (isPlain && isFew) texts(members.toSeq, flags('i')) else Something
  }

  private def isQuantified: Boolean = lookingAt('*') || lookingAt('+') || lookingAt('?') || lookingAt('{')

  private def quantified(pattern: TextPattern): TextPattern =
    if (!isQuantified) pattern
    else {
      val quantifier = skip(Quantifier)
      val Quantifier(least, manner) = quantifier: @unchecked
      // What stands here would have to be a character.
      if (isQuantified) throw NotRead
      val isOptional = quantifier.head == '*' || quantifier.head == '?' || least != null && least.toInt == 0
      if (!isOptional) Many(pattern)
      else if (manner == "+") Something
      else if (pattern == AnyCharacter && quantifier.head == '*') AnyText
      else AnyOf(Seq(if (quantifier.head == '?') pattern else Many(pattern), TextPattern.Empty))
    }

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

  private def prefix(expected: Regex): Option[String] = {
    val matcher = expected.pattern.matcher(regex).region(at, regex.length)
    Option.when(matcher.lookingAt()) { at = matcher.end; matcher.group }
  }

  private def skip(expected: Regex): String = prefix(expected).getOrElse(throw NotRead)
}
