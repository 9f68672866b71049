package sparkrules.compile

/**
 * What a rule needs to match: all of `terms`, from `start` until `end`, are true; negative ones are whole
 * subexpressions (see [[Conditions]]).
 *
 * @param subscriptions per alternative: what matches then; `repeats` whether another alternative may say the same
 */
final class Alternatives(
    val terms: Array[Int],
    val starts: Array[Int],
    val ends: Array[Int],
    val subscriptions: Array[Array[Int]],
    val repeats: Array[Boolean]) {
  def size: Int = starts.length
}
