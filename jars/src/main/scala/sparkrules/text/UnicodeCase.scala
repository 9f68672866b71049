package sparkrules.text

import java.lang.Character.{toLowerCase, toUpperCase}
import java.util.BitSet

import org.apache.spark.unsafe.types.UTF8String

/** Characters that are equal for Java when it ignores the case of all letters, such as `k` and the Kelvin sign. */
object UnicodeCase {
  private lazy val folded: BitSet = {
    val (once, twice) = (new BitSet, new BitSet)
    (0 to Character.MAX_CODE_POINT).foreach { c => if (once.get(fold(c))) twice.set(fold(c)) else once.set(fold(c)) }
    twice
  }

  /** Characters outside ASCII that equal an ASCII character. */
  lazy val twinsOfAscii: Seq[UTF8String] = (128 to Character.MAX_CODE_POINT).collect {
    case c if fold(c) < 128 => UTF8String.fromString(Character.toString(c))
  }

  /** The characters that equal `c`, with itself. */
  def twins(c: Int): Seq[String] = twinsByFold.getOrElse(fold(c), Seq(c)).map(Character.toString(_))

  private lazy val twinsByFold: Map[Int, Seq[Int]] =
    (0 to Character.MAX_CODE_POINT).filter(c => folded.get(fold(c))).groupBy(fold(_))

  private lazy val asciiWithTwin: Set[Int] = twinsOfAscii.map(twin => fold(twin.toString.codePointAt(0))).toSet

  /** Whether `c` equals another character. The other case of an ASCII letter does not count. */
  def hasTwin(c: Int): Boolean = if (c < 128) asciiWithTwin(fold(c)) else folded.get(fold(c))

  private def fold(c: Int): Int = toLowerCase(toUpperCase(c))
}
