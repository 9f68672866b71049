package sparkrules.program

/**
 * The instructions of a program. The first integer is the operation in its lowest five bits, and the slot that it is
 * about above them; operands follow. What is read together lies together: the code of an alternative's remaining
 * predicates, and its rules, follow the predicate that makes it worth a look.
 *
 * {{{
 *   Return
 *   Jump        target
 *   Call        target                                  come back after its Return
 *   EqualElse   point target                            go on if the slot's code is the point, else jump
 *   UpToElse    last target                             ... if it is not NULL's, and not above
 *   FromElse    first target                            ... if it is not below
 *   InElse      first last target                       ... if it lies between
 *   SetElse     set target                              ... if it is in a set
 *   NodeElse    target                                  ... if a shared subexpression (instead of a slot) is true
 *   EqualThen, InThen, SetThen, NodeThen                the same, but jump if it is so, else go on
 *   EqualEmit, UpToEmit, FromEmit, InEmit               report one rule (instead of a target) if it is so
 *   Emit        n rule*                                 report
 *   EmitOnce    n rule*                                 report those that are not reported yet
 *   UpTo        n last* rule*                           report those with code <= last; descending
 *   From        n first* rule*                          report those with first <= code; ascending
 *   UpToOnce, FromOnce                                  the same, those that are not reported yet
 *   Switch      shift first n next target*              jump to the target of code >> shift, or to next
 *   Search      shift n next point* target*             the same for points that are far apart; ascending
 *   Scan        n slot* target*                         call the targets of all slots that a scan finds true; ascending
 * }}}
 */
object Op {
  final val Return = 0
  final val Jump = 1
  final val Call = 2
  final val EqualElse = 3
  final val InElse = 4
  final val SetElse = 5
  final val NodeElse = 6
  final val EqualThen = 7
  final val InThen = 8
  final val SetThen = 9
  final val NodeThen = 10
  final val Emit = 11
  final val EmitOnce = 12
  final val UpTo = 13
  final val From = 14
  final val UpToOnce = 15
  final val FromOnce = 16
  final val Switch = 17
  final val Search = 18
  final val Scan = 19
  final val UpToElse = 20
  final val FromElse = 21
  final val EqualEmit = 22
  final val UpToEmit = 23
  final val FromEmit = 24
  final val InEmit = 25

  final val Bits = 5
  final val Mask = (1 << Bits) - 1
}
