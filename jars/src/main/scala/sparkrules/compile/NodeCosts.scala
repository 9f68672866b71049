package sparkrules.compile

import sparkrules.program.Forest

/**
 * For each node of a forest: how often it is true, and what it costs to find out.
 *
 * @param expense per slot: the cost of computing it, in units of a simple predicate
 */
private final class NodeCosts(val forest: Forest, val predicates: PredicateTable, val expense: Array[Double]) {

  /** Per node: its predicate, or -1. */
  val predicateOf: Array[Int] = Array.tabulate(forest.size) { node =>
    if (isPredicate(node) && forest.slots(node) >= 0) predicates.of(forest.slots(node), forest.intervals(node)) else -1
  }

  /** Per node: the share of rows for which it is true. */
  val chances = new Array[Double](forest.size)

  /** Per node: the cost of evaluating all its predicates. */
  val costs = new Array[Double](forest.size)

  /** Per node: the cost of computing the most expensive slot of its predicates. */
  val dearest = new Array[Double](forest.size)

  /** Per node: its predicates if it were written out, and the conjunctions if all ORs were taken apart. */
  val sizes = new Array[Double](forest.size)
  val conjunctions = new Array[Double](forest.size)

  forest.kinds.indices.foreach { node =>
    def fold(of: Array[Double], start: Double)(f: (Double, Double) => Double): Double = {
      var result = start
      var i = forest.children.start(node)
      while (i < forest.children.end(node)) { result = f(result, of(forest.children.values(i))); i += 1 }
      result
    }
    forest.kinds(node) match {
      case Forest.Predicate =>
        sizes(node) = 1
        conjunctions(node) = 1
        if (predicateOf(node) >= 0) {
          chances(node) = predicates.chance(predicateOf(node))
          costs(node) = 1 + expense(forest.slots(node))
          dearest(node) = expense(forest.slots(node))
        }
      case kind =>
        sizes(node) = fold(sizes, 0)(_ + _)
        costs(node) = fold(costs, 0)(_ + _)
        dearest(node) = fold(dearest, 0)(math.max)
        conjunctions(node) = if (kind == Forest.Or) fold(conjunctions, 0)(_ + _) else fold(conjunctions, 1)(_ * _)
        chances(node) =
          if (kind == Forest.And) fold(chances, 1)(_ * _)
          else 1 - fold(chances, 1)((none, chance) => none * (1 - chance))
    }
  }

  def isPredicate(node: Int): Boolean = forest.kinds(node) == Forest.Predicate

  /** The children of a node, cheap ones first and those likely to decide: false under an AND, true under an OR. */
  def childrenInOrder(node: Int): Array[Int] = {
    val isAnd = forest.kinds(node) == Forest.And
    EvaluationOrder.of(forest.children(node))(
      costs(_),
      child => SlotCosts.isExpensive(dearest(child)),
      child => if (isAnd) 1.0 - chances(child) else chances(child))
  }
}
