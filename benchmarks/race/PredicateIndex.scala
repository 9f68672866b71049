package race

import java.util.Arrays

/**
 * The first phase, which the A-Tree and counting have in common: the true predicates of an event, through one index per
 * attribute. Constants are sorted: one of them is equal to the value, and those below it are less.
 */
final class PredicateIndex(work: Workload) {
  private val attributes = if (work.predicates == 0) 0 else work.attribute.max + 1
  private val equal = sorted(isEquality = true)
  private val greater = sorted(isEquality = false)

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

  private final class OfAttribute(val constants: Array[Int], val predicates: Array[Int])

  private def sorted(isEquality: Boolean): Array[OfAttribute] = {
    val count = new Array[Int](attributes)
    for (p <- 0 until work.predicates if work.isEquality(p) == isEquality) count(work.attribute(p)) += 1
    // Constant and predicate in one number, so that no object is sorted.
    val keys = count.map(new Array[Long](_))
    for (p <- 0 until work.predicates if work.isEquality(p) == isEquality) {
      val own = work.attribute(p)
      count(own) -= 1
      keys(own)(count(own)) = work.constant(p).toLong << 32 | p
    }
    keys.map { own =>
      Arrays.sort(own)
      new OfAttribute(own.map(key => (key >> 32).toInt), own.map(_.toInt))
    }
  }
}
