package sparkrules.overlap

import sparkrules.program.Forest
import sparkrules.value.IntLists

/**
 * Tells which rules of a forest never match the same row, because they need different values of one attribute: the one
 * that separates most of them. Rules about a book, a customer or a machine are often of this kind.
 *
 * @param values per rule: the code of the attribute that it needs, or -1 if it needs none
 */
final class Exclusion(values: Array[Int]) {
  private lazy val counts = new Array[Int](values.max + 1)

  /** Calls `use` for the users of a node that can meet another one there. */
  def foreachThatCanMeet(users: IntLists, node: Int)(use: Int => Unit): Unit = {
    val (start, end) = (users.start(node), users.end(node))
    var others = 0 // users that exclude nobody
    foreach(users, start, end) { user => if (values(user) < 0) others += 1 else counts(values(user)) += 1 }
    foreach(users, start, end) { user =>
      if (values(user) < 0 || others > 0 || counts(values(user)) > 1) use(user)
    }
    foreach(users, start, end) { user => if (values(user) >= 0) counts(values(user)) = 0 }
  }

  private def foreach(users: IntLists, start: Int, end: Int)(act: Int => Unit): Unit = {
    var i = start
    while (i < end) { act(users.values(i)); i += 1 }
  }
}

object Exclusion {

  def of(forest: Forest): Exclusion = {
    import forest.{intervals, slots}
    val uses = new Array[Int](forest.size)
    forest.roots.foreach(root => foreachValue(forest, root)(uses(_) += 1))
    // Per slot: how many rules need a value of it, and how many pairs of rules need the same value.
    val end = slots.maxOption.getOrElse(-1) + 1
    val (all, same) = (new Array[Double](end), new Array[Double](end))
    uses.indices.foreach { node =>
      if (uses(node) > 0) {
        all(slots(node)) += uses(node)
        same(slots(node)) += uses(node).toDouble * uses(node)
      }
    }
    val best = all.indices.maxByOption(slot => all(slot) * all(slot) - same(slot)).getOrElse(-1)
    new Exclusion(forest.roots.map { root =>
      var value = -1
      foreachValue(forest, root)(node => if (slots(node) == best) value = intervals.values(intervals.start(node)))
      value
    })
  }

  /** The predicates with a single value that are true whenever the node is. */
  private def foreachValue(forest: Forest, node: Int)(act: Int => Unit): Unit = {
    import forest.{children, intervals, kinds}
    if (kinds(node) == Forest.And) {
      var i = children.start(node)
      while (i < children.end(node)) { foreachValue(forest, children.values(i))(act); i += 1 }
    } else if (kinds(node) == Forest.Predicate) {
      val start = intervals.start(node)
      if (intervals.length(node) == 2 && intervals.values(start) == intervals.values(start + 1)) act(node)
    }
  }
}
