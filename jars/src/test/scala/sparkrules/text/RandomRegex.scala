package sparkrules.text

import java.util.Random

import sparkrules.Suite.oneOf

/** Regular expressions of Java: well-formed ones, and any characters that mean something in one. */
object RandomRegex {
  private val Single = Seq(
    "a", "b", "A", "k", "\u00e4", "1", " ", ".", "\\w", "\\W", "\\d", "\\s", "\\S", "\\n", "\\r", "\\.", "\\x61",
    "\\u0062",
    "\\p{Lu}", "[ab]", "[^a]", "[a-c1]", "[^\\w]", "[a-z&&[^b]]", "\\Qa.\\E", "\\061")
  private val Places = Seq("^", "$", "\\A", "\\z", "\\Z", "\\b", "\\B")
  private val Quantifiers = Seq("*", "+", "?", "{2}", "{0,2}", "{1,}", "*?", "+?", "??")
  private val Irregular = Seq("*+", "++", "?+")
  private val Openings = Seq("(", "(", "(?:", "(?:", "(?<n>", "(?i:", "(?s:", "(?m:", "(?iu:", "(?-i:")
  private val LookAround = Seq("(?=", "(?!", "(?<=", "(?<!", "(?>")
  private val Flags = Seq("(?i)", "(?s)", "(?m)", "(?ms)", "(?-s)", "(?iu)")
  private val Soup = "ab.*+?()[]{}|^$\\-,12&=!<>:imsuQEwdsbBAzZkxp\n".toSeq

  /** @param isRegular whether an automaton can stand for it, more often than not */
  def wellFormed(random: Random, isRegular: Boolean): String =
    (if (random.nextInt(5) == 0) oneOf(random)(Flags: _*) else "") + alternatives(random, 3, isRegular)

  private def alternatives(random: Random, depth: Int, isRegular: Boolean): String =
    Seq.fill(if (random.nextInt(3) == 0) 2 + random.nextInt(2) else 1)(sequence(random, depth, isRegular)).mkString("|")

  private def sequence(random: Random, depth: Int, isRegular: Boolean): String =
    Seq.fill(random.nextInt(4))(item(random, depth, isRegular)).mkString

  private def item(random: Random, depth: Int, isRegular: Boolean): String = random.nextInt(10) match {
    case 0 => oneOf(random)(Places: _*)
    case 1 | 2 if depth > 0 => oneOf(random)(Openings: _*) + alternatives(random, depth - 1, isRegular) + ")"
    case 3 if depth > 0 =>
      oneOf(random)(Openings: _*) + alternatives(random, depth - 1, isRegular) + ")" + oneOf(random)(Quantifiers: _*)
    case 4 if depth > 0 && !isRegular => oneOf(random)(LookAround: _*) + sequence(random, depth - 1, isRegular) + ")"
    case 5 if !isRegular => oneOf(random)(Single: _*) + oneOf(random)(Irregular: _*)
    case 6 => oneOf(random)(Single: _*) + oneOf(random)(Quantifiers: _*)
    case _ => oneOf(random)(Single: _*)
  }

  def soup(random: Random): String = Seq.fill(1 + random.nextInt(9))(oneOf(random)(Soup: _*)).mkString
}
