package sparkrules.lists

import scala.collection.mutable.ArrayBuffer

import org.apache.spark.unsafe.types.UTF8String

import sparkrules.text.{AnyText => AnyString, _}
import sparkrules.value.{Address, StringTable}

/**
 * What is in a reference list: values, networks or globs. Python has the same (`reference_list.py`). An executor keeps
 * one for all its tasks.
 */
sealed abstract class ReferenceList extends Serializable {

  /** Asks for one task: it may keep something between two strings. */
  def asked(): UTF8String => Boolean
}

object ReferenceList {
  def of(kind: String, values: Array[UTF8String]): ReferenceList = kind match {
    case "values" => new ListOfValues(values)
    case "cidr" => ListOfNetworks.of(values)
    case "glob" => ListOfGlobs.of(values)
    case other => throw new IllegalArgumentException(s"a list of kind '$other' is unknown: upgrade sparkrules")
  }
}

private final class ListOfValues(values: Array[UTF8String]) extends ReferenceList {
  @transient private lazy val table = new StringTable(values)
  override def asked(): UTF8String => Boolean = {
    val own = table
    text => own.find(text) >= 0
  }
}

/** Networks as disjoint ranges of keys, ascending. */
private final class ListOfNetworks(firsts: Array[UTF8String], lasts: Array[UTF8String]) extends ReferenceList {
  override def asked(): UTF8String => Boolean = { text =>
    val key = Address.key(text)
    val found = java.util.Arrays.binarySearch(firsts.asInstanceOf[Array[AnyRef]], key)
    val place = if (found >= 0) found else -found - 2
    place >= 0 && key.compareTo(lasts(place)) <= 0
  }
}

private object ListOfNetworks {
  def of(networks: Array[UTF8String]): ListOfNetworks = {
    val ranges = networks.map { text =>
      Address.network(text).getOrElse(throw new IllegalArgumentException(s"'$text' is not a network"))
    }.sortWith { (a, b) =>
      val order = a._1.compareTo(b._1)
      order < 0 || order == 0 && a._2.compareTo(b._2) > 0
    }
    // A network contains another or is apart from it.
    val kept = ArrayBuffer.empty[(UTF8String, UTF8String)]
    ranges.foreach(range => if (kept.isEmpty || range._1.compareTo(kept.last._2) > 0) kept += range)
    new ListOfNetworks(kept.map(_._1).toArray, kept.map(_._2).toArray)
  }
}

/**
 * Globs. One pass over a string finds what all of them look for; only those that it does not decide are tried.
 *
 * @param always the globs that look for no string: `*`, `???`
 */
private final class ListOfGlobs(globs: Array[Array[Int]], scan: Option[TextScan], always: Array[Int])
    extends ReferenceList {
  override def asked(): UTF8String => Boolean = {
    val scanner = scan.map(_.scanner())
    text => {
      scanner.foreach(_.scan(text))
      scanner.exists(_.decidedCount > 0) || {
        lazy val characters = text.toString.codePoints.toArray
        scanner.exists(s => (0 until s.openCount).exists(i => ListOfGlobs.matches(globs(s.open(i)), characters))) ||
        always.exists(glob => ListOfGlobs.matches(globs(glob), characters))
      }
    }
  }
}

private object ListOfGlobs {
  private final val AnyText = -1
  private final val AnyOne = -2

  def of(texts: Array[UTF8String]): ListOfGlobs = {
    val globs = texts.map(text => parts(text.toString))
    val wanted = globs.map(glob => PatternTexts(TextPattern.trimmed(patternOf(glob))))
    val told = wanted.indices.flatMap(i => wanted(i).map(i -> _))
    val always = wanted.indices.filter(wanted(_).isEmpty).toArray
    new ListOfGlobs(globs, Option.when(told.nonEmpty)(TextScan.of(told)), always)
  }

  private def parts(glob: String): Array[Int] = {
    val found = ArrayBuffer.empty[Int]
    val in = glob.codePoints.iterator
    while (in.hasNext) in.nextInt() match {
      case '\\' if in.hasNext => found += in.nextInt()
      case '*' => if (found.lastOption != Some(AnyText)) found += AnyText
      case '?' => found += AnyOne
      case character => found += character
    }
    found.toArray
  }

  private def patternOf(glob: Array[Int]): TextPattern = {
    val read = ArrayBuffer(TextPattern.Start)
    val literal = new StringBuilder
    def flush(): Unit = if (literal.nonEmpty) {
      read += OneOf(Seq(Piece.of(literal.result(), anyCase = false)))
      literal.clear()
    }
    glob.foreach {
      case AnyText => flush(); read += AnyString
      // Bytes that are not UTF-8 are read as the replacement character, which cannot be found by its own bytes.
      case AnyOne | RegexTexts.Replacement => flush(); read += AnyCharacter
      case character => literal ++= Character.toString(character)
    }
    flush()
    TextPattern.inTurn((read += TextPattern.End).toSeq)
  }

  /** Only the last star is tried again: that suffices, and never takes long. */
  private def matches(glob: Array[Int], text: Array[Int]): Boolean = {
    var (at, place, star, start) = (0, 0, -1, 0)
    while (at < text.length) {
      if (place < glob.length && glob(place) == AnyText) {
        star = place
        start = at
        place += 1
      } else if (place < glob.length && (glob(place) == AnyOne || glob(place) == text(at))) {
        place += 1
        at += 1
      } else if (star >= 0) {
        start += 1
        place = star + 1
        at = start
      } else return false
    }
    while (place < glob.length && glob(place) == AnyText) place += 1
    place == glob.length
  }
}
