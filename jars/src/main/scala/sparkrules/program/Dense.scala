package sparkrules.program

/**
 * The part of a program that is evaluated for many rows at once, one bit for each. Where most predicates are true of
 * every row, nothing is gained by looking only at those that are. Here all predicates are evaluated, but for 255 rows
 * in about the time that the other part takes for one.
 *
 * @param rules those that are decided here, ascending
 * @param slots the slots that their predicates need
 * @param cuts per slot, ascending: the codes at which a predicate becomes true or stops being true
 * @param code operations on a stack of sets of rows, see [[DenseOp]]; slots and cuts are given by their places
 * @param saved how many sets are kept aside, for subexpressions that several rules share
 */
final class Dense(
    val rules: Array[Int],
    val slots: Array[Int],
    val cuts: Array[Array[Int]],
    val code: Array[Int],
    val saved: Int)
    extends Serializable {
  def isEmpty: Boolean = rules.isEmpty
}

/**
 * {{{
 *   Set            from until    push the rows whose code of the slot lies between these cuts
 *   AndPredicate   from until    keep those on top for which it does, too
 *   OrPredicate    from until    add those for which it does
 *   And, Or                      the same with the second from the top, and drop one
 *   Save                         keep what is on top aside, under a number (instead of a slot); drop it
 *   SetSaved, AndSaved, OrSaved  as with a predicate, but with what was kept aside
 *   IfEmpty        target        jump if there are none on top
 *   Store          n             they are the matches of the next n rules; drop them
 * }}}
 */
object DenseOp {
  final val Set = 0
  final val AndPredicate = 1
  final val OrPredicate = 2
  final val And = 3
  final val Or = 4
  final val IfEmpty = 5
  final val Store = 6
  final val Save = 7
  final val SetSaved = 8
  final val AndSaved = 9
  final val OrSaved = 10

  final val Bits = 4
  final val Mask = (1 << Bits) - 1
}

object Dense {
  val Empty: Dense = new Dense(Array.empty, Array.empty, Array.empty, Array.empty, 0)

  /** Rows that are evaluated at once, as words of bits: few enough for a byte to count them. */
  final val Words = 4
  final val Rows = 64 * Words - 1
}
