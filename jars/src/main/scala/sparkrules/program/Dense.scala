package sparkrules.program


/**
 * The part of a program that is evaluated for many rows at once, one bit for each. Where much is true of every row,
 * there is nothing to gain by looking only at what is true; here all conditions are evaluated, but for 255 rows in
 * about the time that the other part takes for one.
 *
 * @param subscriptions those that are decided here, ascending
 * @param slots the slots that their tests need
 * @param cuts per slot: the codes where a test begins to be true, or ends to be, ascending
 * @param code operations on a stack of sets of rows, see [[DenseOp]]; slots and cuts are given by their places
 * @param saved how many sets are kept aside, for subexpressions that several subscriptions share
 */
final class Dense(
    val subscriptions: Array[Int],
    val slots: Array[Int],
    val cuts: Array[Array[Int]],
    val code: Array[Int],
    val saved: Int)
    extends Serializable {
  def isEmpty: Boolean = subscriptions.isEmpty
}

/**
 * {{{
 *   Set        from until    put the rows whose code of the slot lies between these cuts on top
 *   AndTest    from until    keep those on top for which it does, too
 *   OrTest     from until    add those for which it does
 *   And, Or                  the same with the second from the top, and drop one
 *   Save                     keep what is on top aside, under a number (instead of a slot); drop
 *   SetSaved, AndSaved, OrSaved   as with a test, but with what was kept aside
 *   IfEmpty    target        jump if there are none on top
 *   Store      n             they are the matches of the next n subscriptions; drop
 * }}}
 */
object DenseOp {
  final val Set = 0
  final val AndTest = 1
  final val OrTest = 2
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

  /** Rows that are evaluated at once, as words of bits; so few that numbers up to that many are bytes. */
  final val Words = 4
  final val Rows = 64 * Words - 1
}
