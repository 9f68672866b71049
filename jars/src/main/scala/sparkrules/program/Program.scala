package sparkrules.program

/**
 * A compiled rule set: flat arrays, shared by all tasks of an executor and never written to. `Runner` runs it.
 *
 * @param slots the values that rules are about
 * @param code instructions that report the rules that match
 * @param rules what is known of each rule
 */
final class Program(val slots: CompiledSlots, val code: Instructions, val rules: CompiledRules) extends Serializable
