package sparkrules.compile

import scala.collection.mutable.ArrayBuffer

import sparkrules.program.Forest
import sparkrules.value.{IntBuffer, IntLists}

/**
 * What rules need to match. Alternative `i` is true if all of `terms` from `starts(i)` until `ends(i)` are (see
 * [[Terms]]).
 *
 * @param rules per alternative: the rules that match if it is true
 * @param repeats per alternative: whether another one may make the same rules match
 */
private final class Alternatives(
    val terms: Array[Int],
    val starts: Array[Int],
    val ends: Array[Int],
    val rules: Array[Array[Int]],
    val repeats: Array[Boolean]) {
  def size: Int = starts.length

  def haveRepeats: Boolean = repeats.contains(true)
}

private object Alternatives {
  private val Few = 16

  /** Those of the rules in `wanted`. */
  def of(forest: Forest, terms: Terms, wanted: Array[Int]): Alternatives = {
    val rules = IntLists.group(forest.size, wanted.map(forest.roots(_)), wanted)
    val (all, starts, ends) = (new IntBuffer, new IntBuffer, new IntBuffer)
    val (users, repeats) = (ArrayBuffer.empty[Array[Int]], ArrayBuffer.empty[Boolean])
    (0 until forest.size).foreach { root =>
      if (rules.length(root) > 0) {
        val own = rules(root)
        val conjunctions = terms.alternatives(root)
        val mayRepeat = conjunctions.length > 1 && (conjunctions.length > Few || !areDisjoint(conjunctions, terms))
        var i = 0
        while (i < conjunctions.length) {
          starts += all.length
          all ++= conjunctions(i)
          ends += all.length
          users += own
          repeats += mayRepeat
          i += 1
        }
      }
    }
    new Alternatives(all.toArray, starts.toArray, ends.toArray, users.toArray, repeats.toArray)
  }

  private def areDisjoint(all: Array[Array[Int]], terms: Terms): Boolean = {
    var (are, i) = (true, 0)
    while (are && i < all.length) {
      var j = i + 1
      while (are && j < all.length) { are = terms.areDisjoint(all(i), all(j)); j += 1 }
      i += 1
    }
    are
  }
}
