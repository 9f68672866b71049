package sparkrules.bind

import java.util.Random

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types.StringType
import org.apache.spark.unsafe.types.UTF8String

import sparkrules.Suite
import sparkrules.text.{RandomRegex, RandomTexts, TextScan}

/** What predicates on strings look for, found by a scan, against Spark's own evaluation of the predicate. */
final class WantedTextsSuite extends Suite {
  private val operand = BoundReference(0, StringType, nullable = true)

  private def literal(random: Random): Literal = Literal(RandomTexts.text(random, 3), StringType)

  private def randomTest(random: Random, depth: Int): Expression = random.nextInt(if (depth > 0) 9 else 7) match {
    case 0 => Contains(operand, literal(random))
    case 1 => StartsWith(operand, literal(random))
    case 2 => EndsWith(operand, literal(random))
    case 3 => EqualTo(operand, literal(random))
    case 4 =>
      val parts = Seq.fill(random.nextInt(5))(Suite.oneOf(random)("%", "_", "a", "b", "\u00e4", "\\%"))
      Like(operand, Literal(parts.mkString), '\\')
    case 5 | 6 => RLike(operand, Literal(RandomRegex.wellFormed(random, isRegular = random.nextBoolean)))
    case 7 => And(randomTest(random, depth - 1), randomTest(random, depth - 1))
    case _ => Or(randomTest(random, depth - 1), randomTest(random, depth - 1))
  }

  private def answer(test: Expression, text: UTF8String): Option[Boolean] =
    try Some(test.eval(InternalRow(text)) == true)
    catch { case _: Exception => None } // not a regular expression

  test("a scan decides as Spark does, or leaves it to Spark") {
    var (scanned, decided) = (0, 0)
    cases(2000) { random =>
      val test = randomTest(random, 2)
      WantedTexts.of(test).foreach { wanted =>
        scanned += 1
        val scanner = TextScan.of(Seq(0 -> wanted)).scanner()
        for (_ <- 0 until 10) {
          val text = RandomTexts.text(random, 8)
          answer(test, text).foreach { expected =>
            scanner.scan(text)
            if (scanner.openCount == 0) {
              decided += 1
              checkEqual(scanner.decidedCount == 1, expected, s"$test of '$text' by $wanted")
            }
          }
        }
      }
    }
    check(scanned > 250 && decided > 2500, s"$scanned were scanned for, $decided answers decided")
  }

  /** Patterns of several strings, as people write them. */
  private def ordered(random: Random): Expression = {
    def some(symbols: String*): String = Suite.oneOf(random)(symbols: _*)
    def word(): String = Seq.fill(1 + random.nextInt(3))(some("a", "b", "A", "\u00e4", "k")).mkString
    def joined(parts: Int, between: => String): String = Seq.fill(parts)(word()).reduce((a, b) => s"$a$between$b")
    val parts = 2 + random.nextInt(3)
    if (random.nextBoolean) {
      Like(operand, Literal(some("", "%") + joined(parts, some("%", "%", "_", "%%")) + some("", "%", "%")), '\\')
    } else {
      val gap = some(".*", "[ab]+", "[^b]*?", "\\w{1,3}", "\\s?", ".", "(a|bb)", "(?s:.*)", "[ab]", "a*+", "\\b")
      RLike(operand, Literal(some("", "(?i)", "(?iu)", "^", "(?s)") + joined(parts, gap) + some("", "", "$", "\\z")))
    }
  }

  test("a scan decides most patterns of several strings") {
    var (open, decided) = (0, 0)
    cases(3000) { random =>
      val tests = Seq.fill(4)(ordered(random))
      val scanner = TextScan.of(tests.zipWithIndex.flatMap { case (t, i) => WantedTexts.of(t).map(i -> _) }).scanner()
      for (_ <- 0 until 6) {
        val text = RandomTexts.text(random, 12)
        scanner.scan(text)
        val (yes, unknown) = (scanner.decided.take(scanner.decidedCount), scanner.open.take(scanner.openCount))
        tests.indices.filter(i => WantedTexts.of(tests(i)).isDefined).foreach { i =>
          if (unknown.contains(i)) open += 1
          else {
            checkEqual(Some(yes.contains(i)), answer(tests(i), text), s"${tests(i)} of '$text'")
            decided += 1
          }
        }
      }
    }
    check(decided > 20 * open, s"$decided decided, $open open")
  }
}
