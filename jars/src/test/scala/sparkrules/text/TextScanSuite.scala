package sparkrules.text

import java.nio.charset.StandardCharsets.ISO_8859_1
import java.util.Random

import org.apache.spark.unsafe.types.UTF8String

import sparkrules.Suite

/** Tests of a text that one scan decides against `contains`, `startsWith`, `endsWith` and `equals` of Java. */
final class TextScanSuite extends Suite {

  private def randomPiece(random: Random): Piece = {
    val bytes = RandomTexts.bytes(random, 4)
    val text = if (bytes.isEmpty) Array('a'.toByte) else bytes
    val anyCase = random.nextInt(4) == 0
    Piece(
      UTF8String.fromBytes(if (anyCase) text.map(Piece.lower) else text),
      atStart = random.nextInt(4) == 0,
      atEnd = random.nextInt(4) == 0,
      anyCase = anyCase)
  }

  private def isIn(piece: Piece, text: Array[Byte]): Boolean = {
    def string(bytes: Array[Byte]): String =
      new String(if (piece.anyCase) bytes.map(Piece.lower) else bytes, ISO_8859_1)
    val (wanted, whole) = (string(piece.text.getBytes), string(text))
    (piece.atStart, piece.atEnd) match {
      case (true, true) => whole == wanted
      case (true, false) => whole.startsWith(wanted)
      case (false, true) => whole.endsWith(wanted)
      case (false, false) => whole.contains(wanted)
    }
  }

  test("a test is decided by what is sure, open by what may be, and else false; text after text") {
    cases(1500) { random =>
      def pieces(): Seq[Piece] = Seq.fill(random.nextInt(3))(randomPiece(random))
      val all = Seq.tabulate(1 + random.nextInt(6))(i => (10 * i + 3, Wanted(pieces(), pieces())))
        .filter { case (_, wanted) => wanted.sure.nonEmpty || wanted.maybe.nonEmpty }
      if (all.nonEmpty) {
        val scanner = TextScan.of(all).scanner()
        (0 until 6).foreach { _ =>
          val text = RandomTexts.bytes(random, 12)
          scanner.scan(UTF8String.fromBytes(text))
          val sure = all.filter(_._2.sure.exists(isIn(_, text))).map(_._1)
          val open = all.filter(_._2.maybe.exists(isIn(_, text))).map(_._1).diff(sure)
          def about: String = s"$all in '${new String(text, ISO_8859_1)}'"
          checkEqual(scanner.decided.take(scanner.decidedCount).toSeq.sorted, sure, s"decided, $about")
          checkEqual(scanner.open.take(scanner.openCount).toSeq.sorted, open, s"open, $about")
        }
      }
    }
  }
}
