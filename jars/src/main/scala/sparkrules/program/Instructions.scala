package sparkrules.program

import sparkrules.value.IntLists

/**
 * The code of a program.
 *
 * @param words operations and their operands, see [[Op]]
 * @param bands where the code of each band of rules begins: one band of all rules, unless only the first matches are
 *   wanted
 * @param sets the codes of predicates that are more than one interval: pairs of first and last
 * @param shared subexpressions that the code asks for as a whole
 * @param hasRepeats whether the code may report a rule twice, by `Op.EmitOnce`
 * @param dense the part that is evaluated for many rows at once
 */
final class Instructions(
    val words: Array[Int],
    val bands: Array[Int],
    val sets: IntLists,
    val shared: Forest,
    val hasRepeats: Boolean,
    val dense: Dense)
    extends Serializable
