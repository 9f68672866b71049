package sparkrules.text

import java.util.Random
import java.util.regex.Pattern.{CASE_INSENSITIVE, DOTALL, MULTILINE, UNICODE_CASE}
import java.util.regex.{Pattern, PatternSyntaxException}

import org.apache.spark.unsafe.types.UTF8String

import sparkrules.Suite
import sparkrules.value.Meter

/** Regular expressions, read and searched for, against java.util.regex. */
final class RegexSuite extends Suite {
  private val Flags = Seq(0, 0, 0, CASE_INSENSITIVE, CASE_INSENSITIVE | UNICODE_CASE, DOTALL, MULTILINE)

  private def meter(): Meter = {
    val meter = new Meter
    meter.startRow()
    meter
  }

  private def compiled(regex: String, flags: Int): Option[Pattern] =
    try Some(Pattern.compile(regex, flags))
    catch { case _: PatternSyntaxException => None }

  private def expected(pattern: Pattern, isWhole: Boolean, text: UTF8String): Boolean = {
    val matcher = pattern.matcher(text.toString)
    if (isWhole) matcher.matches() else matcher.find()
  }

  /** The automaton that stands for a regular expression, if there is one. */
  private def automaton(regex: String, flags: Int, isWhole: Boolean): Option[RegexAutomaton] =
    RegexReader(regex, flags).flatMap(RegexProgram.of).map(new RegexAutomaton(_, isWhole))

  private def compareAutomaton(random: Random, regex: String, flags: Int): Boolean = {
    val isWhole = random.nextBoolean
    val pattern = compiled(regex, flags)
    val found = automaton(regex, flags, isWhole)
    check(found.isEmpty || pattern.isDefined, s"'$regex' is no regular expression, but was read")
    for (pattern <- pattern; automaton <- found; _ <- 0 until 8) {
      val text = RandomTexts.text(random, 8)
      automaton.find(text, meter()).foreach { answer =>
        checkEqual(answer, expected(pattern, isWhole, text), s"'$regex', flags $flags, whole $isWhole, in '$text'")
      }
    }
    found.isDefined
  }

  test("an automaton finds what Java finds") {
    var (automata, all) = (0, 0)
    cases(4000) { random =>
      val regex = RandomRegex.wellFormed(random, isRegular = true)
      if (compareAutomaton(random, regex, Suite.oneOf(random)(Flags: _*))) automata += 1
      all += 1
    }
    check(automata > all / 2, s"only $automata of $all had an automaton")
  }

  test("places in texts of several lines") {
    val ends = Seq("a", "\n", "\r", "\r\n", "\u0085", "\u2028")
    cases(2000) { random =>
      def some(of: Seq[String]): String = Seq.fill(random.nextInt(4))(Suite.oneOf(random)(of: _*)).mkString
      val regex = some(Seq("^", "$", "a", ".", "\\z", "\\Z", "\\n", "\\r?", "[\\s]*"))
      val flags = Suite.oneOf(random)(0, DOTALL, MULTILINE)
      val (found, pattern) = (automaton(regex, flags, isWhole = false), Pattern.compile(regex, flags))
      for (automaton <- found; _ <- 0 until 10) {
        val text = UTF8String.fromString(some(ends))
        checkEqual(automaton.find(text, meter()), Some(expected(pattern, isWhole = false, text)),
          s"'$regex', flags $flags, in '$text'")
      }
    }
  }

  test("any characters in a row: what is read means what Java reads") {
    var read = 0
    cases(20000) { random =>
      if (compareAutomaton(random, RandomRegex.soup(random), Suite.oneOf(random)(Flags: _*))) read += 1
    }
    check(read > 1000, s"only $read were read")
  }

  test("a search finds what Java finds, by an automaton or by Java itself") {
    cases(4000) { random =>
      val regex = RandomRegex.wellFormed(random, isRegular = false)
      val (flags, isWhole) = (Suite.oneOf(random)(Flags: _*), random.nextBoolean)
      compiled(regex, flags).foreach { pattern =>
        val search = new RegexSearch(regex, flags, isWhole)
        (0 until 8).foreach { _ =>
          val text = RandomTexts.text(random, 8)
          checkEqual(search.find(text, meter()), expected(pattern, isWhole, text),
            s"'$regex', flags $flags, in '$text'")
        }
      }
    }
  }

  test("one automaton for many texts, when it forgets its states too") {
    cases(20) { random =>
      // Two to the power of twelve states.
      val regex = s"a.{${8 + random.nextInt(5)}}b"
      val (automata, pattern) = (automaton(regex, 0, isWhole = false).get, Pattern.compile(regex))
      (0 until 50).foreach { _ =>
        val text =
          UTF8String.fromString(Seq.fill(random.nextInt(400))(if (random.nextBoolean) "a" else "c").mkString + "b")
        checkEqual(automata.find(text, meter()), Some(expected(pattern, isWhole = false, text)), s"'$regex' in '$text'")
      }
    }
  }

  test("an alternation of many words keeps few states for each character") {
    cases(5) { random =>
      val words = Seq.fill(2000)(Seq.fill(1 + random.nextInt(5))(Suite.oneOf(random)("a", "b", "c", "d")).mkString)
      val regex = words.mkString("(", "|", ")") + "[0-9]{2}"
      val (found, pattern) = (automaton(regex, 0, isWhole = false).get, Pattern.compile(regex))
      val limited = new Meter
      (0 until 50).foreach { _ =>
        val text = UTF8String.fromString(
          Seq.fill(random.nextInt(60))(Suite.oneOf(random)("a", "b", "c", "d", "1", "x", "\u00e4")).mkString)
        limited.startRow()
        checkEqual(found.find(text, limited), Some(expected(pattern, isWhole = false, text)), s"in '$text'")
      }
    }
  }

  test("a search for anything in front of something finds what Java finds") {
    cases(2000) { random =>
      val regex = Suite.oneOf(random)(".*", ".*.*", "(?i).*", "(?s).*", ".*?", ".*+") +
        RandomRegex.wellFormed(random, isRegular = true)
      compiled(regex, 0).foreach { pattern =>
        val search = new RegexSearch(regex, 0, isWhole = false)
        (0 until 5).foreach { _ =>
          val text = RandomTexts.text(random, 8)
          checkEqual(search.find(text, meter()), expected(pattern, isWhole = false, text), s"'$regex' in '$text'")
        }
      }
    }
  }

  test("what takes too long by backtracking is found out in time") {
    val text = UTF8String.fromString("a" * 5000)
    Seq("(a*)*b", "(a|aa)+$b", "(.*a){12}b").foreach { regex =>
      automaton(regex, 0, isWhole = false).foreach { found =>
        checkEqual(found.find(text, meter()), Some(false), regex)
      }
    }
  }
}
