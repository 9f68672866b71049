package sparkrules.text

import org.apache.spark.unsafe.types.UTF8String

import sparkrules.value.Meter

/**
 * Decides whether a regular expression is found in texts. By an automaton where there is one for it: in time that grows
 * with the length of a text alone. By Java for the rest, which backtracks: `(.*a){12}b` takes hours on a line of text.
 * But Java asks for each character anew, so the number of characters that it asks for bounds its time.
 *
 * @param isWhole whether the whole text has to match, and not some part of it
 */
final class RegexSearch(regex: String, flags: Int, isWhole: Boolean) {
  // Complains if it is none.
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

/**
 * What to count a search by Java for.
 *
 * @param blind attempts without a look at the text
 * @param steps what each look at a character stands for
 */
final class SearchEffort(blind: Long, steps: Long) {
  def counted(text: UTF8String, meter: Meter): CountedText = {
    meter.spend(blind)
    new CountedText(text.toString, meter, steps)
  }
}

object SearchEffort {
  private val Count = """\{(\d+)""".r

  // What Java does between two looks at a character takes longer than a step of an automaton.
  private val Look = 5.0

  /** What is not read is feared to have two ways, both empty, wherever it counts. */
  def of(read: Option[Regex], regex: String): SearchEffort = {
    val (tries, size) = read.fold {
      (math.pow(2, Count.findAllMatchIn(regex).map(_.group(1).toDouble).sum), regex.length.toDouble)
    }(regex => (regex.blindTries, regex.size))
    new SearchEffort(tries.toLong, (Look * math.max(1, tries / size)).toLong)
  }
}

/** A text that counts the looks at its characters. */
final class CountedText(text: String, meter: Meter, steps: Long) extends CharSequence {
  def length: Int = text.length
  def charAt(i: Int): Char = {
    meter.spend(steps)
    text.charAt(i)
  }
  def subSequence(start: Int, end: Int): CharSequence = text.subSequence(start, end)
  override def toString: String = text
}
