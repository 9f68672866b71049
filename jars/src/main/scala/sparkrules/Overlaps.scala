package sparkrules

import java.util.Arrays

import scala.collection.mutable
import scala.collection.mutable.ArrayBuffer

/**
 * The overlap sets of a row: the groups of two or more matching subscriptions that share a subexpression which is true
 * in this row, no group twice; larger groups first, then in the order of their members.
 */
final class Overlaps(matcher: Matcher, forest: Forest) {
  private val truth = matcher.truthOf(forest)
  private val visits = new Array[Int](forest.size)
  private var visit = 0
  private val users = mutable.LinkedHashMap.empty[Int, ArrayBuffer[Int]]
  private val stack = ArrayBuffer.empty[Int]

  /** Each group as ascending subscriptions of the program. */
  def sets(): Array[Array[Int]] = {
    users.clear()
    var i = 0
    while (i < matcher.count) { walk(matcher.matched(i)); i += 1 }
    val groups = users.valuesIterator.filter(_.length > 1).map(_.toArray)
    groups.map(new Overlaps.Group(_)).distinct.map(_.members).toArray.sortWith(Overlaps.before)
  }

  /** Notes the subscription at every true node of its tree, once each. */
  private def walk(subscription: Int): Unit = {
    visit += 1
    if (visit < 0) { Arrays.fill(visits, 0); visit = 1 }
    stack += forest.roots(subscription)
    while (stack.nonEmpty) {
      val node = stack.remove(stack.length - 1)
      if (visits(node) != visit) {
        visits(node) = visit
        if (truth.of(node)) users.getOrElseUpdate(node, ArrayBuffer.empty) += subscription
        var i = forest.children.start(node)
        while (i < forest.children.end(node)) { stack += forest.children.values(i); i += 1 }
      }
    }
  }
}

object Overlaps {

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
