package sparkrules

import java.util.Arrays

/**
 * At which nodes the subscriptions of a forest can meet. Not at every node:
 *
 *   - a node with one user has no group of two;
 *   - where a node's only parent is an OR, the OR is true whenever the node is, and has the same users: the same group;
 *   - so it is where the only parent is an AND that is true whenever any of its users is, as there is no OR above it.
 *
 * The rest are numbered. Nodes that other parts of the version have too (see [[Common]]) are kept, whatever they are,
 * under a number that they have in all parts; what is above such a node need not be in the other parts.
 *
 * @param certain per subscription: the numbers of its nodes that are true whenever it matches
 * @param open per subscription: those of its other nodes, each number followed by the node
 * @param end one more than the highest number
 */
final class Sharing(val certain: IntLists, val open: IntLists, val end: Int)

object Sharing {

  /** @param common the nodes that other parts have too, and `numbers` theirs; other numbers start at `first` */
  def of(forest: Forest, common: Array[Int], numbers: Array[Int], first: Int): Sharing = {
    val numberOf = kept(forest, common)
    common.indices.foreach(i => numberOf(common(i)) = numbers(i))
    var next = first
    val isCommon = new java.util.BitSet
    common.foreach(isCommon.set)
    numberOf.indices.foreach { node =>
      if (numberOf(node) >= 0 && !isCommon.get(node)) { numberOf(node) = next; next += 1 }
    }
    val walk = new Walk(forest, numberOf)
    forest.roots.foreach(walk.add)
    new Sharing(
      new IntLists(walk.certainEnds.toArray, walk.certain.toArray), new IntLists(walk.openEnds.toArray, walk.open.toArray), next)
  }

  /** Per node: 0 if it is kept, else -1. Parents come after their children, so one pass from the end sees all parents. */
  private def kept(forest: Forest, common: Array[Int]): Array[Int] = {
    import forest.{children, kinds}
    val (roots, users, parents) = (new Array[Boolean](forest.size), new Array[Byte](forest.size), new Array[Byte](forest.size))
    // Of a node: whether there is no OR above it; whether its last parent has the same group.
    val (sure, follows) = (Array.fill(forest.size)(true), new Array[Boolean](forest.size))
    forest.roots.foreach { root => roots(root) = true; users(root) = atMostTwo(users(root) + 1) }
    val numbers = Array.fill(forest.size)(-1)
    var node = forest.size - 1
    while (node >= 0) {
      if (users(node) > 0) {
        val isOr = kinds(node) == Forest.Or
        var i = children.start(node)
        while (i < children.end(node)) {
          val child = children.values(i)
          users(child) = atMostTwo(users(child) + users(node))
          parents(child) = atMostTwo(parents(child) + 1)
          follows(child) = isOr || sure(node)
          if (isOr || !sure(node)) sure(child) = false
          i += 1
        }
        if (users(node) > 1 && (roots(node) || parents(node) > 1 || !follows(node))) numbers(node) = 0
      }
      node -= 1
    }
    common.foreach(numbers(_) = 0)
    numbers
  }

  private def atMostTwo(count: Int): Byte = math.min(count, 2).toByte

  /** Collects the numbered nodes of one subscription after the other. */
  private final class Walk(forest: Forest, numberOf: Array[Int]) {
    import forest.{children, kinds}
    val (certain, certainEnds, open, openEnds) = (new IntBuffer, new IntBuffer, new IntBuffer, new IntBuffer)
    certainEnds += 0
    openEnds += 0

    // Whether there is a numbered node at or below a node: else it need not be visited.
    private val isAbove = new Array[Boolean](forest.size)
    numberOf.indices.foreach { node =>
      var found = numberOf(node) >= 0
      var i = children.start(node)
      while (!found && i < children.end(node)) { found = isAbove(children.values(i)); i += 1 }
      isAbove(node) = found
    }
    private val visits = new Array[Int](forest.size)
    private var visit = 0
    private val (sure, unsure) = (new Stack, new Stack)

    def add(root: Int): Unit = {
      visit += 1
      sure.push(root)
      while (sure.nonEmpty) {
        val node = sure.pop()
        if (enter(node)) {
          if (numberOf(node) >= 0) certain += numberOf(node)
          pushChildren(node, if (kinds(node) == Forest.Or) unsure else sure)
        }
      }
      while (unsure.nonEmpty) {
        val node = unsure.pop()
        if (enter(node)) {
          if (numberOf(node) >= 0) { open += numberOf(node); open += node }
          pushChildren(node, unsure)
        }
      }
      certainEnds += certain.length
      openEnds += open.length
    }

    private def enter(node: Int): Boolean = isAbove(node) && visits(node) != visit && { visits(node) = visit; true }

    private def pushChildren(node: Int, stack: Stack): Unit = {
      var i = children.start(node)
      while (i < children.end(node)) { stack.push(children.values(i)); i += 1 }
    }
  }

  private final class Stack {
    private var values = new Array[Int](64)
    private var size = 0
    def nonEmpty: Boolean = size > 0
    def push(value: Int): Unit = {
      if (size == values.length) values = Arrays.copyOf(values, 2 * size)
      values(size) = value
      size += 1
    }
    def pop(): Int = { size -= 1; values(size) }
  }
}
