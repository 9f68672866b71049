package race

import java.util.Arrays

/**
 * The first phase, which the A-Tree and counting have in common: the true predicates of an event, through one index per
 * attribute. Constants are sorted: one of them is equal to the value, and those below it are less.
 */
final class PredicateIndex(work: Workload) {
  private val attributes = if (work.predicates == 0) 0 else work.attribute.max + 1
  private val equal, greater = Array.tabulate(attributes)(new OfAttribute(_))
  for (a <- 0 until attributes) {
    equal(a).fill(isEquality = true)
    greater(a).fill(isEquality = false)
  }

  /** The numbers of the true predicates are added to `found`, by attribute. */
  def truePredicates(event: Array[Int], found: Ints): Unit = {
    var a = 0
    while (a < attributes) {
      val same = equal(a)
      val at = Arrays.binarySearch(same.constants, event(a))
      if (at >= 0) found += same.predicates(at)
      val below = greater(a)
      val place = Arrays.binarySearch(below.constants, event(a))
      val end = if (place >= 0) place else -place - 1
      var i = 0
      while (i < end) {
        found += below.predicates(i)
        i += 1
      }
      a += 1
    }
  }

  def bytes: Long = 8L * work.predicates

  private final class OfAttribute(attribute: Int) {
    var constants, predicates: Array[Int] = Array.emptyIntArray

    def fill(isEquality: Boolean): Unit = {
      predicates = (0 until work.predicates).iterator
        .filter(p => work.attribute(p) == attribute && work.isEquality(p) == isEquality)
        .toArray.sortBy(work.constant(_))
      constants = predicates.map(work.constant(_))
    }
  }
}
