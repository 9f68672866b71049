package race

import java.util.Arrays

/** Every subscription by itself. */
final class BruteForce(work: Workload) extends Algorithm {
  private val subscriptions = new Ints()
  private val stack = new Array[Boolean](64)

  override def name: String = "brute force"
  override def insert(subscription: Int): Unit = subscriptions += subscription

  override def filter(event: Array[Int], found: Ints): Unit = {
    var i = 0
    while (i < subscriptions.size) {
      if (isTrue(subscriptions(i), event)) found += subscriptions(i)
      computed += 1
      i += 1
    }
  }

  private def isTrue(subscription: Int, event: Array[Int]): Boolean = {
    var at = work.first(subscription)
    val end = work.end(subscription)
    var top = -1
    while (at < end) {
      val token = work.token(at)
      if (token >= 0) {
        top += 1
        stack(top) = work.isTrue(token, event)
        passed += 1
      } else {
        top -= 1
        val (one, other) = (stack(top), stack(top + 1))
        stack(top) = if (token == Workload.And) one & other else if (token == Workload.Or) one | other else one ^ other
      }
      at += 1
    }
    stack(0)
  }

  override def bytes: Long = work.bytes + 4L * subscriptions.size
}

/** Counts the true predicates of each conjunction, then looks for those that have all of theirs. */
final class Counting(work: Workload, index: PredicateIndex) extends Algorithm {
  private val postings = Array.fill[Ints](work.predicates)(null)
  private val length, hits = new Array[Byte](work.size)
  private val predicates = new Ints()

  override def name: String = "counting"

  override def insert(subscription: Int): Unit =
    for (at <- work.first(subscription) until work.end(subscription)) {
      val token = work.token(at)
      if (token >= 0) {
        if (postings(token) == null) postings(token) = new Ints(2)
        postings(token) += subscription
        length(subscription) = (length(subscription) + 1).toByte
      }
    }

  override def filter(event: Array[Int], found: Ints): Unit = {
    predicates.clear()
    index.truePredicates(event, predicates)
    var i = 0
    while (i < predicates.size) {
      val own = postings(predicates(i))
      if (own != null) {
        passed += own.size
        var at = 0
        while (at < own.size) {
          val subscription = own(at)
          hits(subscription) = (hits(subscription) + 1).toByte
          at += 1
        }
      }
      i += 1
    }
    i = 0
    while (i < hits.length) {
      if (hits(i) == length(i) && length(i) > 0) found += i
      i += 1
    }
    computed += hits.length
    Arrays.fill(hits, 0: Byte)
  }

  override def bytes: Long =
    index.bytes + 2L * work.size + 8L * work.predicates + postings.iterator.filter(_ != null).map(4L * _.size).sum
}

/**
 * A matching tree as in Gryphon: a path of equality tests per conjunction, ordered by attribute; common beginnings are
 * shared. A chain of "don't care" edges is one edge, which leads to the next attribute that is tested.
 */
final class MatchingTree(work: Workload, index: PredicateIndex) extends Algorithm {
  private val tested, firstSubscription = new Ints()
  private val nextSubscription = Array.fill(work.size)(-1)
  private var keys = new Array[Long](1 << 12)
  private var children = new Array[Int](1 << 12)
  private var edges = 0
  private val predicates = new Ints()
  addNode()

  override def name: String = "matching tree"

  override def insert(subscription: Int): Unit = {
    val own = (work.first(subscription) until work.end(subscription)).iterator.map(work.token).filter(_ >= 0).toArray
      .sortBy(p => (work.attribute(p), p))
    var node = 0
    own.foreach { predicate =>
      tested.values(node) |= 1 << work.attribute(predicate)
      val key = (node.toLong << 32 | predicate) + 1
      var at = place(key)
      if (keys(at) == 0) {
        if (2 * edges > keys.length) {
          grow()
          at = place(key)
        }
        keys(at) = key
        children(at) = addNode()
        edges += 1
      }
      node = children(at)
    }
    nextSubscription(subscription) = firstSubscription(node)
    firstSubscription.values(node) = subscription
  }

  override def filter(event: Array[Int], found: Ints): Unit = {
    predicates.clear()
    index.truePredicates(event, predicates)
    visit(0, 0, found)
  }

  private def visit(node: Int, from: Int, found: Ints): Unit = {
    computed += 1
    var subscription = firstSubscription(node)
    while (subscription >= 0) {
      found += subscription
      subscription = nextSubscription(subscription)
    }
    val mask = tested(node)
    var i = from
    while (i < predicates.size) {
      val predicate = predicates(i)
      if ((mask >> work.attribute(predicate) & 1) != 0) {
        passed += 1
        val at = place((node.toLong << 32 | predicate) + 1)
        if (keys(at) != 0) visit(children(at), i + 1, found)
      }
      i += 1
    }
  }

  private def addNode(): Int = {
    tested += 0
    firstSubscription += -1
    tested.size - 1
  }

  private def place(key: Long): Int = {
    val mixed = key * 0x9E3779B97F4A7C15L
    var at = ((mixed ^ (mixed >>> 31)) & (keys.length - 1)).toInt
    while (keys(at) != 0 && keys(at) != key) at = (at + 1) & (keys.length - 1)
    at
  }

  private def grow(): Unit = {
    val (oldKeys, oldChildren) = (keys, children)
    keys = new Array[Long](2 * oldKeys.length)
    children = new Array[Int](2 * oldKeys.length)
    for (i <- oldKeys.indices if oldKeys(i) != 0) {
      val at = place(oldKeys(i))
      keys(at) = oldKeys(i)
      children(at) = oldChildren(i)
    }
  }

  override def bytes: Long = index.bytes + 12L * keys.length + 8L * tested.size + 4L * work.size
}
