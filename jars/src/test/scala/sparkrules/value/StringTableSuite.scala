package sparkrules.value

import java.util.Random

import org.apache.spark.unsafe.types.UTF8String

import sparkrules.Suite

/** A table of texts against a map of Java. */
final class StringTableSuite extends Suite {

  private def text(random: Random): UTF8String =
    UTF8String.fromBytes(Array.fill(random.nextInt(20))((random.nextInt(3) * 127).toByte))

  test("a text is found under its number, and no other is found") {
    cases(300) { random =>
      val texts = Array.fill(random.nextInt(200))(text(random)).distinct
      val numbers = texts.zipWithIndex.toMap
      val table = new StringTable(texts)
      (texts.iterator ++ Iterator.fill(200)(text(random))).foreach { wanted =>
        checkEqual(table.find(wanted), numbers.getOrElse(wanted, -1), s"'$wanted'")
      }
    }
  }

  test("a text that lies inside a larger array is found") {
    val table = new StringTable(Array("", "b", "bc").map(UTF8String.fromString(_)))
    val whole = "abcd".getBytes
    checkEqual(table.find(UTF8String.fromBytes(whole, 1, 1)), 1, "b")
    checkEqual(table.find(UTF8String.fromBytes(whole, 1, 2)), 2, "bc")
    checkEqual(table.find(UTF8String.fromBytes(whole, 4, 0)), 0, "nothing")
    checkEqual(table.find(UTF8String.fromBytes(whole, 0, 2)), -1, "ab")
  }
}
