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

  /** Whether strings are there one after the other, with gaps that fit; by trying everything. */
  private def isThere(pieces: List[Piece], gaps: List[Gap], text: Array[Byte], from: Int, isFirst: Boolean): Boolean =
    pieces.isEmpty || (from to text.length).exists { at =>
      val (piece, between) = (pieces.head, text.slice(from, at))
      val fits = isFirst || (gaps.head match {
        case Gap.Nothing => between.isEmpty
        case Gap.Characters(low, high, least, most) =>
          between.length >= least && (most < 0 || between.length <= most) &&
          between.forall(c => c >= 0 && (((if (c < 64) low else high) >>> c) & 1) == 1)
        case _ => true
      })
      val end = at + piece.text.numBytes
      val isHere = end <= text.length && isIn(piece.copy(atStart = true, atEnd = true), text.slice(at, end))
      fits && isHere && (!piece.atStart || at == 0) && (!piece.atEnd || end == text.length) &&
      isThere(pieces.tail, if (isFirst) gaps else gaps.tail, text, end, isFirst = false)
    }

  test("strings one after the other: decided, or left open where they are") {
    var (decided, open) = (0, 0)
    cases(3000) { random =>
      def gap(): Gap = random.nextInt(4) match {
        case 0 | 1 => Gap.Anything
        case 2 => Gap.Characters(0L, (1L << ('a' - 64)) | (1L << ('A' - 64)), random.nextInt(2), random.nextInt(4) - 1)
        case _ => Suite.oneOf(random)(Gap.Unknown, Gap.Nothing)
      }
      def turn(): Turn = {
        val pieces = Seq.fill(2 + random.nextInt(3))(randomPiece(random))
        Turn(pieces, pieces.tail.map(_ => gap()), isAll = random.nextInt(4) > 0)
      }
      val all = Seq.tabulate(1 + random.nextInt(6)) { i =>
        val sure = if (random.nextInt(4) == 0) Seq(randomPiece(random)) else Nil
        (10 * i + 3, Wanted(sure, Nil, Seq.fill(1 + random.nextInt(2))(turn())))
      }
      val scanner = TextScan.of(all).scanner()
      (0 until 6).foreach { _ =>
        val text = RandomTexts.bytes(random, 16)
        scanner.scan(UTF8String.fromBytes(text))
        val (yes, unknown) = (scanner.decided.take(scanner.decidedCount), scanner.open.take(scanner.openCount))
        all.foreach { case (slot, Wanted(sure, _, turns)) =>
          val isSure = sure.exists(isIn(_, text)) || turns.exists { turn =>
            turn.isAll && !turn.gaps.contains(Gap.Unknown) &&
            isThere(turn.pieces.toList, turn.gaps.toList, text, 0, isFirst = true)
          }
          val isMaybe = turns.exists { turn =>
            isThere(turn.pieces.toList, turn.gaps.toList.map(_ => Gap.Unknown), text, 0, isFirst = true)
          }
          def about: String = s"$sure, $turns in '${new String(text, ISO_8859_1)}'"
          if (yes.contains(slot)) check(isSure, s"decided, $about")
          if (isSure) check(yes.contains(slot) || unknown.contains(slot), s"found, $about")
          if (!isSure && isMaybe && turns.forall(t => !t.isAll)) check(unknown.contains(slot), s"open, $about")
          if (yes.contains(slot)) decided += 1 else if (unknown.contains(slot)) open += 1
        }
      }
    }
    check(decided > 500 && open > 500, s"$decided decided, $open open")
  }
}
