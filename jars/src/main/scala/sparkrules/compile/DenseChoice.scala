package sparkrules.compile

/**
 * Chooses the rules that cost less where many rows are evaluated at once: those expected to be looked at often. Not
 * those with values that Spark computes, which would have to be computed for every row.
 */
private object DenseChoice {
  // What a rule and each of its predicates cost per row where many rows are evaluated at once, and what must be saved.
  private val RuleCost = 0.003
  private val PredicateCost = 0.002
  private val LeastGain = 1000.0
  private val LargestRule = 200.0
  private val MostIntervals = 16

  /**
   * The rules, ascending.
   *
   * @param assembler that has assembled all rules
   */
  def of(costs: NodeCosts, assembler: Assembler): Array[Int] = {
    import costs.forest.roots
    val expected = new Array[Double](roots.length)
    val all = assembler.alternatives
    (0 until all.size).foreach(a => all.rules(a).foreach(expected(_) += assembler.expected(a)))
    def gain(rule: Int): Double = expected(rule) - (RuleCost + PredicateCost * costs.sizes(roots(rule)))
    val isPlain = plainNodes(costs)
    val chosen = roots.indices.filter { rule =>
      gain(rule) > 0 && isPlain(roots(rule)) && costs.sizes(roots(rule)) <= LargestRule
    }
    if (chosen.iterator.map(gain).sum > LeastGain) chosen.toArray else Array.empty
  }

  /** Per node: whether it consists of simple predicates of columns. */
  private def plainNodes(costs: NodeCosts): Array[Boolean] = {
    import costs.forest
    val plain = new Array[Boolean](forest.size)
    plain.indices.foreach { node =>
      plain(node) =
        if (costs.isPredicate(node)) {
          forest.slots(node) >= 0 && costs.expense(forest.slots(node)) == 0 &&
            forest.intervals.length(node) <= MostIntervals
        } else forest.children.length(node) > 0 && forest.children(node).forall(plain(_))
    }
    plain
  }
}
