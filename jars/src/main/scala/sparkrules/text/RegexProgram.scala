package sparkrules.text

import scala.collection.mutable
import scala.collection.mutable.ArrayBuffer

/**
 * A regular expression as a nondeterministic automaton (Thompson, 1968).
 *
 * @param operations per state: reads a character of a set, goes on to two states, checks a place, or ends
 * @param operands the number of the set, or the second state
 * @param nexts the next state
 */
final class RegexProgram private (
    val operations: Array[Byte],
    val operands: Array[Int],
    val nexts: Array[Int],
    val sets: Array[CharacterSet],
    val places: Array[Where],
    val start: Int) {

  def size: Int = operations.length
}

object RegexProgram {
  final val Read: Byte = 0
  final val Both: Byte = 1
  final val At: Byte = 2
  final val End: Byte = 3

  /** The state that ends: the first that is written. */
  final val Accepting = 0

  // A count in a regular expression multiplies what is counted.
  private val Largest = 50000

  /** The automaton; None if the expression has none, or only one that is too large. */
  def of(regex: Regex): Option[RegexProgram] =
    if (!regex.isRegular) None
    else {
      try Some(new Writer().write(regex))
      catch { case TooLarge => None }
    }

  private object TooLarge extends RuntimeException(null, null, false, false)

  /** Writes from the end to the start, so that the next state is known. */
  private final class Writer {
    private val operations = ArrayBuffer.empty[Byte]
    private val (operands, nexts) = (ArrayBuffer.empty[Int], ArrayBuffer.empty[Int])
    private val sets = mutable.LinkedHashMap.empty[CharacterSet, Int]
    private val places = mutable.LinkedHashMap.empty[Where, Int]
    private var work = 0

    def write(regex: Regex): RegexProgram = {
      val start = before(regex, state(End, 0, 0))
      new RegexProgram(
        operations.toArray, operands.toArray, nexts.toArray, sets.keys.toArray, places.keys.toArray, start)
    }

    private def state(operation: Byte, operand: Int, next: Int): Int = {
      spend()
      operations += operation
      operands += operand
      nexts += next
      operations.length - 1
    }

    // Copies of what is empty add no state.
    private def spend(): Unit = {
      work += 1
      if (work > Largest) throw TooLarge
    }

    /** The state from which the expression is read, and then what is read from `next`. */
    private def before(regex: Regex, next: Int): Int = regex match {
      case set: CharacterSet => state(Read, sets.getOrElseUpdate(set, sets.size), next)
      case Place(where) => state(At, places.getOrElseUpdate(where, places.size), next)
      case Sequence(parts) => parts.foldRight(next)(before)
      case Choice(parts) => parts.map(before(_, next)).reduceRight((one, others) => state(Both, others, one))
      // Once is as good as many times.
      case Repeat(part, least, most, _) if !part.reads && (least > 1 || most > 1 || most < 0) =>
        before(Repeat(part, math.min(least, 1), 1, isPossessive = false), next)
      case Repeat(part, least, most, _) if part.isOptional && least > 0 =>
        before(Repeat(part, 0, most, isPossessive = false), next)
      case Repeat(part, least, most, _) =>
        var from = next
        if (most < 0) {
          from = state(Both, next, 0)
          nexts(from) = before(part, from)
        } else {
          var i = most
          while (i > least) { spend(); from = state(Both, next, before(part, from)); i -= 1 }
        }
        var i = 0
        while (i < least) { spend(); from = before(part, from); i += 1 }
        from
      case Irregular(_) => throw TooLarge
    }
  }
}
