package sparkrules.metrics

import java.util.{Arrays, BitSet}

import sparkrules.program.Hidden
import sparkrules.version.PinnedRules

/**
 * What the tasks of a run have counted, by the numbers of rules and slots; on the driver. Each partition counts once,
 * as the first task counts it that finishes: Spark computes a partition again if its executor is lost, and to find out
 * how to sort.
 *
 * @param seen the partitions that have been counted
 */
private final class RunCounts(rules: PinnedRules, instant: Option[Long], seen: BitSet) {
  private var (rows, matches, nanoseconds) = (0L, 0L, 0L)
  private val hits = rules.parts.map(part => new Array[Long](part.program.rules.size))
  private val failures = rules.parts.map(part => new Array[Long](part.program.slots.size))
  private val spent = rules.parts.map(part => new Array[Long](part.program.slots.size))

  /** Adds what [[TaskCounts.sent]] gives. */
  def add(sent: Array[Array[Long]]): Unit = {
    val sums = sent(0)
    val partition = sums(0).toInt
    if (!seen.get(partition)) {
      seen.set(partition)
      rows += sums(1)
      matches += sums(2)
      nanoseconds += sums(3)
      rules.parts.indices.foreach { p =>
        val first = 1 + TaskCounts.PerPart * p
        Seq(hits(p), failures(p), spent(p)).zip(sent.drop(first)).foreach { case (all, own) => RunCounts.add(all, own) }
      }
    }
  }

  /** The counts by the ids of rules: of the `most` rules with most matches, errors and time each. */
  def report(most: Int): RuleReport = {
    val parts = rules.parts.indices.map { p =>
      (hits(p), byRule(p, failures(p), isShared = false), byRule(p, spent(p), isShared = true))
    }
    val chosen = Seq(parts.map(_._1), parts.map(_._2), parts.map(_._3)).flatMap(RunCounts.largest(_, most)).distinct
    val counts = chosen.map { case (p, rule) =>
      val (own, errors, time) = parts(p)
      RuleCount(rules.parts(p).program.rules.ids(rule).toString, own(rule), at(errors, rule), at(time, rule))
    }
    RuleReport(
      rows, matches, failures.map(_.sum).sum, nanoseconds, rules.ruleCount, hits.map(_.count(_ > 0)).sum,
      counts.sortBy(c => (-c.hits, c.id)))
  }

  private def at(values: Array[Long], rule: Int): Long = if (values.isEmpty) 0L else values(rule)

  /**
   * What is counted by slot, by rule: a rule has all failed values that it needs, and of the time an equal share with
   * the others that need the value. Empty if there is nothing.
   */
  private def byRule(part: Int, bySlot: Array[Long], isShared: Boolean): Array[Long] =
    if (bySlot.forall(_ == 0L)) Array.emptyLongArray
    else {
      val own = rules.parts(part)
      val (users, bases) = (own.forest.users, own.program.slots.bases)
      val hidden = rules.hidden(part, instant)
      val sums = new Array[Double](own.program.rules.size)
      bySlot.indices.filter(bySlot(_) > 0).foreach { slot =>
        // Searches of a string need the string.
        val slots = slot +: bases.indices.filter(bases(_) == slot)
        val needing = slots.filter(_ < users.size).flatMap(users(_)).distinct.filterNot(Hidden.isHidden(hidden, _))
        val each = bySlot(slot).toDouble / (if (isShared) math.max(needing.length, 1) else 1)
        needing.foreach(sums(_) += each)
      }
      sums.map(_.round)
    }
}

private object RunCounts {
  private def add(all: Array[Long], pairs: Array[Long]): Unit = {
    var i = 0
    while (i < pairs.length) {
      all(pairs(i).toInt) += pairs(i + 1)
      i += 2
    }
  }

  /** The places of the `most` largest positive numbers: part and rule. Of equal ones, the first. */
  private[metrics] def largest(parts: Seq[Array[Long]], most: Int): Seq[(Int, Int)] = {
    val positive = parts.iterator.flatMap(_.iterator.filter(_ > 0)).toArray
    Arrays.sort(positive)
    val least = if (positive.length <= most) 1L else positive(positive.length - most)
    var ties = most - positive.count(_ > least)
    for {
      p <- parts.indices
      rule <- parts(p).indices
      value = parts(p)(rule)
      if value > least || value == least && { ties -= 1; ties >= 0 }
    } yield (p, rule)
  }
}
