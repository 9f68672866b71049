package sparkrules.text

import java.lang.Character.{toLowerCase, toUpperCase}
import java.util.BitSet

import org.apache.spark.unsafe.types.UTF8String

/** Which characters are equal for Java when it ignores the case of all letters: `k` and the Kelvin sign, for one. */
object UnicodeCase {
  private lazy val folded: BitSet = {
    val (once, twice) = (new BitSet, new BitSet)
    (0 to Character.MAX_CODE_POINT).foreach { c => if (once.get(fold(c))) twice.set(fold(c)) else once.set(fold(c)) }
    twice
  }

  /** Characters that are no ASCII but equal to one. */
  lazy val twinsOfAscii: Seq[UTF8String] = (128 to Character.MAX_CODE_POINT).collect {
    case c if fold(c) < 128 => UTF8String.fromString(Character.toString(c))
  }

  private lazy val asciiWithTwin: Set[Int] = twinsOfAscii.map(twin => fold(twin.toString.codePointAt(0))).toSet

  /** Whether `c` is equal to another character; of ASCII letters that of the other case does not count. */
  def hasTwin(c: Int): Boolean = if (c < 128) asciiWithTwin(fold(c)) else folded.get(fold(c))

  private def fold(c: Int): Int = toLowerCase(toUpperCase(c))
}
