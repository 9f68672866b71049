package sparkrules

import java.util.Arrays

import scala.collection.mutable
import scala.collection.mutable.ArrayBuffer

/**
 * The overlap sets of a row: the groups of two or more matching subscriptions that share a subexpression which is true
 * in this row, no group twice; larger groups first, then in the order of their members.
 */
final class Overlaps(matcher: RowMatcher) {
  private val trees = matcher.parts.indices.map(p => new Overlaps.Trees(matcher.parts(p), matcher.rules.parts(p).forest))

  /** Each group as ascending positions of what matches; to be called after `sort()`. */
  def sets(): Array[Array[Int]] = {
    trees.foreach(_.users.clear())
    var i = 0
    while (i < matcher.count) { trees(matcher.part(i)).walk(matcher.number(i), i); i += 1 }
    val groups =
      if (trees.count(_.users.nonEmpty) < 2) trees.iterator.flatMap(_.users.valuesIterator).filter(_.length > 1).map(_.toArray)
      else overParts().filter(_.length > 1).map(_.toArray.sorted)
    groups.map(new Overlaps.Group(_)).distinct.map(_.members).toArray.sortWith(Overlaps.before)
  }

  /** A subexpression may be in several parts. */
  private def overParts(): Iterator[ArrayBuffer[Int]] = {
    val users = mutable.LinkedHashMap.empty[Digest, ArrayBuffer[Int]]
    trees.indices.foreach { p =>
      val digests = matcher.rules.parts(p).digests
      trees(p).users.foreach { case (node, own) => users.getOrElseUpdate(digests(node), ArrayBuffer.empty) ++= own }
    }
    users.valuesIterator
  }
}

object Overlaps {

  /** The trees of what matches in one part. */
  private final class Trees(matcher: Matcher, forest: Forest) {
    private val truth = matcher.truthOf(forest)
    private val visits = new Array[Int](forest.size)
    private var visit = 0
    private val stack = ArrayBuffer.empty[Int]

    /** Per true node: the positions of what it is a part of. */
    val users = mutable.LinkedHashMap.empty[Int, ArrayBuffer[Int]]

    /** Notes the subscription, by its position, at every true node of its tree, once each. */
    def walk(subscription: Int, position: Int): Unit = {
      visit += 1
      if (visit < 0) { Arrays.fill(visits, 0); visit = 1 }
      stack += forest.roots(subscription)
      while (stack.nonEmpty) {
        val node = stack.remove(stack.length - 1)
        if (visits(node) != visit) {
          visits(node) = visit
          if (truth.of(node)) users.getOrElseUpdate(node, ArrayBuffer.empty) += position
          var i = forest.children.start(node)
          while (i < forest.children.end(node)) { stack += forest.children.values(i); i += 1 }
        }
      }
    }
  }

  private final class Group(val members: Array[Int]) {
    override def hashCode: Int = Arrays.hashCode(members)
    override def equals(other: Any): Boolean = other match {
      case group: Group => Arrays.equals(members, group.members)
      case _ => false
    }
  }

  private def before(a: Array[Int], b: Array[Int]): Boolean =
    if (a.length != b.length) a.length > b.length else Arrays.compare(a, b) < 0
}
