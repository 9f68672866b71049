package sparkrules.text

import org.apache.spark.unsafe.types.UTF8String

import sparkrules.value.Meter

/**
 * Decides whether a string contains a match of a regular expression. An automaton decides it in linear time, where
 * there is one for the expression. Java decides the rest. It backtracks: `(.*a){12}b` takes hours on a line of text.
 * The number of characters that Java reads, the same ones again included, bounds its time.
 *
 * @param written a regular expression; an error if it is not valid
 * @param isWhole whether the whole string has to match
 */
final class RegexSearch(written: String, flags: Int, isWhole: Boolean) {
  private val regex = if (isWhole) written else RegexSearch.withoutLeadingAnything(written)
  private val pattern = Regex.compiled(regex, flags)
  private val read = RegexReader(regex, flags)
  private val automaton = read.flatMap(RegexProgram.of).map(new RegexAutomaton(_, isWhole))
  private lazy val effort = SearchEffort.of(read, regex)

  def find(text: UTF8String, meter: Meter): Boolean =
    automaton.flatMap(_.find(text, meter)).getOrElse {
      val matcher = pattern.matcher(effort.counted(text, meter))
      if (isWhole) matcher.matches() else matcher.find()
    }
}

object RegexSearch {
  private val LeadingAnything = """^(\(\?[idmsuU]+\))?(?:\.\*)+(?![?+*{])""".r

  /**
   * `(?i).*(a|b)` -> `(?i)(a|b)`: a search finds both in the same strings. With `.*`, Java tries every end of it from
   * every start, which is quadratic in the length of a string without a match.
   */
  private def withoutLeadingAnything(regex: String): String = LeadingAnything.replaceFirstIn(regex, "$1")
}

/**
 * The cost of a search by Java.
 *
 * @param blind attempts that read no character
 * @param steps the cost of reading a character
 */
final class SearchEffort(blind: Long, steps: Long) {
  def counted(text: UTF8String, meter: Meter): CountedText = {
    meter.spend(blind)
    new CountedText(text.toString, meter, steps)
  }
}

object SearchEffort {
  private val Count = """\{(\d+)""".r

  // What Java does between two characters takes longer than a step of an automaton.
  private val Look = 5.0

  /** Of an expression that is not understood, assume the worst: two empty ways wherever it counts. */
  def of(read: Option[Regex], regex: String): SearchEffort = {
    val (tries, size) = read.fold {
      (math.pow(2, Count.findAllMatchIn(regex).map(_.group(1).toDouble).sum), regex.length.toDouble)
    }(regex => (regex.blindTries, regex.size))
    new SearchEffort(tries.toLong, (Look * math.max(1, tries / size)).toLong)
  }
}

/** A string that counts how often its characters are read. */
final class CountedText(text: String, meter: Meter, steps: Long) extends CharSequence {
  def length: Int = text.length
  def charAt(i: Int): Char = {
    meter.spend(steps)
    text.charAt(i)
  }
  def subSequence(start: Int, end: Int): CharSequence = text.subSequence(start, end)
  override def toString: String = text
}
