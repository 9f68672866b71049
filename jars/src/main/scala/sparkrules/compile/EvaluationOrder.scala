package sparkrules.compile

import scala.collection.mutable.ArrayBuffer

import sparkrules.value.IntArrays

/**
 * In which order to evaluate predicates, or larger nodes, until one of them decides. By cost and chance, c / (1 - p) in
 * a conjunction, as if they were independent. But what is expensive waits until everything that is cheap next to it has
 * been evaluated, even if that rarely decides: then it is computed only for rows that need it, whatever the statistics
 * say. The price of this is at most a quarter of its own cost.
 */
private object EvaluationOrder {

  // How many times as much as all the cheaper ones together something costs that waits for them.
  private val Much = 4.0

  /** Groups, each of which waits for those before it. */
  def tiers(all: Array[Int])(cost: Int => Double, canWait: Int => Boolean): Seq[Array[Int]] =
    if (all.length < 2 || !IntArrays.exists(all)(canWait)) Seq(all)
    else {
      val sorted = all.sortBy(cost)
      val starts = ArrayBuffer(0)
      var sum = cost(sorted(0))
      (1 until sorted.length).foreach { i =>
        if (canWait(sorted(i)) && cost(sorted(i)) >= Much * sum) starts += i
        sum += cost(sorted(i))
      }
      if (starts.length == 1) Seq(all)
      else starts.indices.map(i => sorted.slice(starts(i), if (i + 1 < starts.length) starts(i + 1) else sorted.length))
    }

  /** @param decides the chance that nothing else has to be evaluated after it */
  def of(all: Array[Int])(cost: Int => Double, canWait: Int => Boolean, decides: Int => Double): Array[Int] =
    tiers(all)(cost, canWait).toArray.flatMap(_.sortBy(i => cost(i) / math.max(1e-9, decides(i))))
}
