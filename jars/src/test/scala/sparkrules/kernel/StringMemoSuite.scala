package sparkrules.kernel

import org.apache.spark.unsafe.types.UTF8String

import sparkrules.Suite
import sparkrules.text.RandomTexts

/** What is remembered for strings is what was put there for the same bytes. */
final class StringMemoSuite extends Suite {

  test("a string has the value that was put for it last, or none") {
    var (found, asked) = (0, 0)
    cases(20) { random =>
      val memo = new StringMemo[String]
      val most = if (random.nextInt(4) == 0) 1500 else 40
      val texts = Array.fill(1 + random.nextInt(1000))(RandomTexts.text(random, random.nextInt(most)))
      (0 until 5000).foreach { round =>
        val text = texts((texts.length * random.nextDouble * random.nextDouble).toInt)
        val bytes = text.getBytes.toSeq
        val known = memo.get(text)
        asked += 1
        if (known != null) {
          found += 1
          checkEqual(known, bytes.toString, s"round $round")
        } else memo.put(text, bytes.toString)
      }
    }
    check(found > asked / 2 && found < asked, s"$found of $asked were remembered")
  }

  test("a string whose memory is used again is remembered as it was") {
    val memo = new StringMemo[String]
    val bytes = "abc".getBytes
    checkEqual(memo.get(UTF8String.fromBytes(bytes)), null, "at first")
    memo.put(UTF8String.fromBytes(bytes), "abc")
    bytes(0) = 'x'
    checkEqual(memo.get(UTF8String.fromBytes(bytes)), null, "other bytes")
    checkEqual(memo.get(UTF8String.fromString("abc")), "abc", "the same bytes")
  }

  test("strings that never come back are not looked up for long, and long strings never") {
    val memo = new StringMemo[String]
    val long = UTF8String.fromString("a" * 3000)
    checkEqual(memo.get(long), null, "a long string")
    memo.put(long, "long")
    checkEqual(memo.get(long), null, "a long string again")
    (0 until 10000).foreach { i =>
      val text = UTF8String.fromString(i.toString)
      checkEqual(memo.get(text), null, s"$i")
      memo.put(text, i.toString)
    }
    checkEqual(memo.get(UTF8String.fromString("9999")), null, "while nothing is looked up")
    (0 until 60000).foreach(_ => memo.get(UTF8String.fromString("b")))
    memo.put(UTF8String.fromString("b"), "b")
    checkEqual(memo.get(UTF8String.fromString("b")), "b", "after that")
  }
}
