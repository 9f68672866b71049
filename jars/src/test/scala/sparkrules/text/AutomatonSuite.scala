package sparkrules.text

import java.nio.charset.StandardCharsets.ISO_8859_1
import java.util.Random

import scala.collection.mutable

import org.apache.spark.unsafe.types.UTF8String

import sparkrules.Suite

/** The automaton that finds many keys in one pass against looking for each key at each place. */
final class AutomatonSuite extends Suite {

  /** A key of bytes, as characters below 256, with or without the marks of the text's start and end. */
  private def randomKey(random: Random, anyCase: Boolean): String = {
    val bytes = RandomTexts.bytes(random, 4).map(byte => if (anyCase) Piece.lower(byte) else byte)
    val text = if (bytes.isEmpty) "a" else new String(bytes, ISO_8859_1)
    random.nextInt(8) match {
      case 0 => s"${Automaton.Start}$text"
      case 1 => s"$text${Automaton.End}"
      case 2 => s"${Automaton.Start}$text${Automaton.End}"
      case 3 => s"$text${Automaton.LastLineEnd}"
      case _ => text
    }
  }

  /** Where a key ends in a text. */
  private def endsOf(key: String, text: String): Seq[Int] = {
    val atStart = key.head == Automaton.Start
    val plain = key.filter(_ < 256)
    (0 to text.length).filter { end =>
      val isEnd = key.last match {
        case Automaton.End => end == text.length
        case Automaton.LastLineEnd => Terminators.contains(text.substring(end)) && !isBetween(text, end)
        case _ => true
      }
      text.substring(0, end).endsWith(plain) && (!atStart || end == plain.length) && isEnd
    }
  }

  // As bytes of UTF-8, and the end itself.
  private val Terminators = Seq("", "\n", "\r\n", "\r", "\u00c2\u0085", "\u00e2\u0080\u00a8", "\u00e2\u0080\u00a9")

  private def isBetween(text: String, at: Int): Boolean = text.startsWith("\n", at) && text.take(at).endsWith("\r")

  private def found(keys: Array[String], anyCase: Boolean, text: UTF8String): Set[(String, Int)] = {
    val (automaton, order) = Automaton.of(keys, anyCase)
    val all = mutable.Set.empty[(String, Int)]
    automaton.scan(text, (longest: Int, end: Int) => {
      var key = longest
      while (key >= 0) {
        all += ((keys(order(key)), end))
        key = automaton.suffixes(key)
      }
    })
    all.toSet
  }

  private def compare(keys: Array[String], anyCase: Boolean, bytes: Array[Byte]): Unit = {
    val text = new String(if (anyCase) bytes.map(Piece.lower) else bytes, ISO_8859_1)
    val expected = keys.toSeq.flatMap(key => endsOf(key, text).map((key, _))).toSet
    checkEqual(found(keys, anyCase, UTF8String.fromBytes(bytes)), expected, s"${keys.toSeq} in '$text'")
  }

  test("all keys are found wherever they end, at the text's edges only if they have to") {
    cases(3000) { random =>
      val anyCase = random.nextInt(3) == 0
      val keys = Array.fill(1 + random.nextInt(8))(randomKey(random, anyCase)).distinct.sorted
      val ending = if (random.nextBoolean) "" else Suite.oneOf(random)(Terminators: _*)
      compare(keys, anyCase, RandomTexts.bytes(random, 12) ++ ending.getBytes(ISO_8859_1))
    }
  }

  test("keys that are long enough for parts of a text to be skipped") {
    cases(2000) { random =>
      def word(least: Int): String = Seq.fill(least + random.nextInt(5))(('a' + random.nextInt(6)).toChar).mkString
      val anyCase = random.nextInt(3) == 0
      val keys = Array.fill(1 + random.nextInt(4)) {
        val text = word(3 + random.nextInt(3))
        random.nextInt(6) match {
          case 0 => s"${Automaton.Start}$text"
          case 1 => s"$text${Automaton.End}"
          case 2 => s"$text${Automaton.LastLineEnd}"
          case _ => text
        }
      }.distinct.sorted
      // Parts of keys and whole ones among other letters, some of which no key has.
      val text = Seq.fill(random.nextInt(12)) {
        val key = keys(random.nextInt(keys.length)).filter(_ < 256)
        random.nextInt(5) match {
          case 0 => key
          case 1 => key.drop(random.nextInt(key.length))
          case 2 => key.take(random.nextInt(key.length))
          case 3 => word(0)
          case _ => "xyz\u00e9".take(random.nextInt(5))
        }
      }.mkString + (if (random.nextInt(4) == 0) "\n" else "")
      val cased = if (anyCase) text.map(c => if (random.nextBoolean && c < 128) c.toUpper else c) else text
      compare(keys, anyCase, cased.getBytes(ISO_8859_1))
    }
  }

  test("more states than there are rows for") {
    cases(3) { random =>
      // Random bytes share no prefixes: 200,000 states of 259 classes, of which about a thousand have a row.
      val made = Array.fill(4000) {
        val bytes = new Array[Byte](50)
        random.nextBytes(bytes)
        new String(bytes, ISO_8859_1)
      }
      val keys = (made ++ made.map(_.substring(20, 40)) ++ made.take(100).map(_.substring(45))).distinct.sorted
      val chosen = Seq.fill(20)(made(random.nextInt(made.length)))
      val text = chosen.map(key => key.substring(random.nextInt(20))).mkString
      val expected = keys.toSeq.filter(text.contains(_)).toSet
      val hits = found(keys, anyCase = false, UTF8String.fromBytes(text.getBytes(ISO_8859_1)))
      check(expected.size >= 10, s"only ${expected.size} keys are in the text")
      checkEqual(hits.map(_._1).size, expected.size, "keys found")
      checkEqual(hits.map(_._1), expected, "keys found")
    }
  }
}
