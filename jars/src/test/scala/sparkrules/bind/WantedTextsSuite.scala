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
}
