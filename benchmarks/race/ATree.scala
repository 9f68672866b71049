package race

import java.util.Arrays

/**
 * The forest of thesis 3.3 on arrays, with insertion and deletion (3.6), as in `tests/specification/atree.py`.
 *
 * An inner node n has two edges, 2n from its left child and 2n + 1 from its right one; the edges that leave a child are
 * a doubly linked list, so that removing one takes constant time. Nodes are found by hash, not by intersecting the
 * lists of parents. Operands of a chain are sorted by the number of their node.
 */
final class ATree(work: Workload) {
  val operator, left, right, level, useCount, firstEdge, firstSubscription = new Ints()
  private val nextEdge, previousEdge, nextInBucket, predicateOf = new Ints()
  private var buckets = new Array[Int](1 << 10)
  Arrays.fill(buckets, -1)
  private val free = new Ints()
  val leafOf: Array[Int] = Array.fill(work.predicates)(-1)
  val rootOf: Array[Int] = Array.fill(work.size)(-1)
  val nextSubscription: Array[Int] = Array.fill(work.size)(-1)
  private var inner = 0
  private var seenBy = 0L
  private var seen = new Array[Long](16)
  private val stack, tree = new Ints()

  def nodes: Int = operator.size - free.size
  def capacity: Int = operator.size
  def nextOf(edge: Int): Int = nextEdge(edge)
  def highest: Int = level.values.take(level.size).maxOption.getOrElse(0)

  def insert(subscription: Int): Unit = {
    val root = place(subscription)
    rootOf(subscription) = root
    nextSubscription(subscription) = firstSubscription(root)
    firstSubscription.values(root) = subscription
    listTree(root)
    for (i <- 0 until tree.size) useCount.values(tree(i)) += 1
  }

  def delete(subscription: Int): Unit = {
    val root = rootOf(subscription)
    rootOf(subscription) = -1
    if (firstSubscription(root) == subscription) firstSubscription.values(root) = nextSubscription(subscription)
    else {
      var before = firstSubscription(root)
      while (nextSubscription(before) != subscription) before = nextSubscription(before)
      nextSubscription(before) = nextSubscription(subscription)
    }
    listTree(root)
    for (i <- 0 until tree.size) {
      val node = tree(i)
      useCount.values(node) -= 1
      if (useCount(node) == 0) remove(node)
    }
  }

  /** The nodes of a tree, each once. */
  private def listTree(root: Int): Unit = {
    if (seen.length < operator.size) seen = Arrays.copyOf(seen, operator.values.length)
    seenBy += 1
    tree.clear()
    stack.clear()
    stack += root
    while (stack.size > 0) {
      val node = stack.pop()
      if (seen(node) != seenBy) {
        seen(node) = seenBy
        tree += node
        if (operator(node) != ATree.Leaf) {
          stack += left(node)
          stack += right(node)
        }
      }
    }
  }

  /** Postfix: an operator takes two operands, each a node, or a chain that is still open. */
  private def place(subscription: Int): Int = {
    var open = List.empty[Operand]
    for (at <- work.first(subscription) until work.end(subscription)) {
      val token = work.token(at)
      if (token >= 0) open ::= new Operand(leaf(token), 0, null)
      else {
        val second :: first :: rest = open: @unchecked
        val operands = new Ints()
        Seq(first, second).foreach { operand =>
          if (operand.operator == token) for (i <- 0 until operand.chain.size) operands += operand.chain(i)
          else operands += close(operand)
        }
        open = new Operand(-1, token, operands) :: rest
      }
    }
    close(open.head)
  }

  private final class Operand(val node: Int, val operator: Int, val chain: Ints)

  private def close(operand: Operand): Int =
    if (operand.chain == null) operand.node
    else {
      val sorted = Arrays.copyOf(operand.chain.values, operand.chain.size)
      Arrays.sort(sorted)
      rearrange(operand.operator, if (operand.operator == Workload.Xor) sorted else sorted.distinct)
    }

  /** Rearrange_Subtree (algorithm 6): the arrangement of a chain that adds the fewest nodes; of equals, ((a b) c) d. */
  private def rearrange(op: Int, operands: Array[Int]): Int = {
    val n = operands.length
    val cost, split = new Array[Int](n * n)
    val root = Array.fill(n * n)(-1)
    for (i <- 0 until n) root(i * n + i) = operands(i)
    var length = 1
    while (length < n) {
      var i = 0
      while (i + length < n) {
        val j = i + length
        var best, k = Int.MaxValue
        k = j - 1
        while (k >= i) {
          val (one, other) = (root(i * n + k), root((k + 1) * n + j))
          val node = if (one >= 0 && other >= 0) find(op, one, other) else -1
          val own = cost(i * n + k) + cost((k + 1) * n + j) + (if (node < 0) 1 else 0)
          if (own < best) {
            best = own
            cost(i * n + j) = own
            split(i * n + j) = k
            root(i * n + j) = node
          }
          k -= 1
        }
        i += 1
      }
      length += 1
    }
    def build(i: Int, j: Int): Int =
      if (root(i * n + j) >= 0) root(i * n + j)
      else node(op, build(i, split(i * n + j)), build(split(i * n + j) + 1, j))
    build(0, n - 1)
  }

  private def leaf(predicate: Int): Int = {
    if (leafOf(predicate) < 0) {
      leafOf(predicate) = allocate(ATree.Leaf, -1, -1, 1)
      predicateOf.values(leafOf(predicate)) = predicate
    }
    leafOf(predicate)
  }

  private def node(op: Int, one: Int, other: Int): Int = {
    val found = find(op, one, other)
    if (found >= 0) found
    else {
      val made = allocate(op, one, other, 1 + math.max(level(one), level(other)))
      addEdge(one, 2 * made)
      addEdge(other, 2 * made + 1)
      inner += 1
      if (inner > buckets.length) rehash()
      val bucket = bucketOf(op, one, other)
      nextInBucket.values(made) = buckets(bucket)
      buckets(bucket) = made
      made
    }
  }

  private def allocate(op: Int, one: Int, other: Int, at: Int): Int = {
    val made = if (free.size > 0) free.pop() else operator.size
    for (own <- Seq(operator, left, right, level, useCount, firstEdge, firstSubscription, nextInBucket, predicateOf))
      own.growTo(made + 1, -1)
    nextEdge.growTo(2 * made + 2, -1)
    previousEdge.growTo(2 * made + 2, -1)
    operator.values(made) = op
    left.values(made) = one
    right.values(made) = other
    level.values(made) = at
    useCount.values(made) = 0
    firstEdge.values(made) = -1
    firstSubscription.values(made) = -1
    made
  }

  private def remove(node: Int): Unit = {
    if (operator(node) == ATree.Leaf) leafOf(predicateOf(node)) = -1
    else {
      removeEdge(left(node), 2 * node)
      removeEdge(right(node), 2 * node + 1)
      val bucket = bucketOf(operator(node), left(node), right(node))
      if (buckets(bucket) == node) buckets(bucket) = nextInBucket(node)
      else {
        var before = buckets(bucket)
        while (nextInBucket(before) != node) before = nextInBucket(before)
        nextInBucket.values(before) = nextInBucket(node)
      }
      inner -= 1
    }
    free += node
  }

  private def addEdge(child: Int, edge: Int): Unit = {
    val first = firstEdge(child)
    nextEdge.values(edge) = first
    previousEdge.values(edge) = -1
    if (first >= 0) previousEdge.values(first) = edge
    firstEdge.values(child) = edge
  }

  private def removeEdge(child: Int, edge: Int): Unit = {
    val (before, after) = (previousEdge(edge), nextEdge(edge))
    if (before >= 0) nextEdge.values(before) = after else firstEdge.values(child) = after
    if (after >= 0) previousEdge.values(after) = before
  }

  private def find(op: Int, one: Int, other: Int): Int = {
    var at = buckets(bucketOf(op, one, other))
    while (at >= 0 && !isSame(at, op, one, other)) at = nextInBucket(at)
    at
  }

  private def isSame(at: Int, op: Int, one: Int, other: Int): Boolean = operator(at) == op &&
    (left(at) == one && right(at) == other || left(at) == other && right(at) == one)

  private def bucketOf(op: Int, one: Int, other: Int): Int = {
    val mixed = (one.toLong + other) * 0x9E3779B97F4A7C15L + (one.toLong ^ other) * 0xC2B2AE3D27D4EB4FL + op
    ((mixed ^ (mixed >>> 29)) & (buckets.length - 1)).toInt
  }

  private def rehash(): Unit = {
    val chained = buckets.filter(_ >= 0).flatMap(Iterator.iterate(_)(nextInBucket(_)).takeWhile(_ >= 0))
    buckets = new Array[Int](2 * buckets.length)
    Arrays.fill(buckets, -1)
    chained.foreach { node =>
      val bucket = bucketOf(operator(node), left(node), right(node))
      nextInBucket.values(node) = buckets(bucket)
      buckets(bucket) = node
    }
  }

  /** Nodes with their edges, the table of nodes, and the thesis' two tables. */
  def bytes: Long = nodes * (4L * 9 + 2 * 8) + 4L * (buckets.length + work.predicates + 2L * work.size)
}

object ATree {
  val Leaf: Int = 0
}
