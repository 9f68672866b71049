package sparkrules

import scala.collection.mutable.ArrayBuffer

/** Compiles a bound rule set to a [[Program]]. */
final class Compiler(segment: Segment, bound: Bound) {
  private val nodes = segment.nodeOperators.length
  private val kinds: Array[Byte] = segment.nodeOperators.map {
    case "and" => Program.And
    case "or" => Program.Or
    case _ => Program.Leaf
  }

  /** Nodes with a predicate that Spark does not accept on this table, and so the subscriptions to leave out. */
  private val invalid: Array[Boolean] = {
    val flags = new Array[Boolean](nodes)
    (0 until nodes).foreach { n =>
      flags(n) =
        if (kinds(n) == Program.Leaf) bound.leaves(segment.nodePredicates(n)).isLeft
        else segment.nodeChildren(n).exists(flags(_))
    }
    flags
  }

  /** The subscriptions that are left out. */
  val rejected: Seq[Int] = segment.subscriptionIds.indices.filter(s => invalid(segment.subscriptionNodes(s)))

  /** The problems of the subscriptions that are left out, by id. */
  def problems: Iterator[(String, Problem)] = rejected.iterator.map { s =>
    segment.subscriptionIds(s).toString -> firstProblem(segment.subscriptionNodes(s))
  }

  private def firstProblem(node: Int): Problem =
    if (kinds(node) == Program.Leaf) bound.leaves(segment.nodePredicates(node)).left.toOption.get
    else firstProblem(segment.nodeChildren(node).find(invalid(_)).get)

  def compile(): Program = {
    val order = segment.subscriptionIds.indices.diff(rejected).sortWith { (a, b) =>
      val byPriority = segment.subscriptionPriorities(b).compare(segment.subscriptionPriorities(a))
      if (byPriority != 0) byPriority < 0 else segment.subscriptionIds(a).binaryCompare(segment.subscriptionIds(b)) < 0
    }.toArray
    val roots = order.map(segment.subscriptionNodes(_))
    val cost = new Cost
    val children = IntLists((0 until nodes).map { n =>
      if (invalid(n)) Array.empty[Int] else segment.nodeChildren(n).sortBy(cost.ofAsking)
    })

    val mustFire = new Array[Boolean](nodes)
    roots.foreach(mustFire(_) = true)
    val (below, above) = (ArrayBuffer.empty[Int], ArrayBuffer.empty[Int])
    val always = ArrayBuffer.empty[Int]
    // Children are numbered before their parents, so one pass from above reaches every node that must fire.
    (nodes - 1 to 0 by -1).iterator.filter(mustFire(_)).foreach { n =>
      val access = kinds(n) match {
        case Program.Leaf => Array.empty[Int]
        case Program.Or => children(n)
        case _ => children(n).minByOption(cost.ofWatching).toArray
      }
      if (kinds(n) == Program.And && children.length(n) == 0) always += n
      access.foreach { child =>
        mustFire(child) = true
        below += child
        above += n
      }
    }

    val wholeTexts = bound.texts.toSet
    val firing = (0 until nodes).filter(n => mustFire(n) && kinds(n) == Program.Leaf).groupBy(leaf(_).slot)
    new Program(
      Program.serialize(bound.slots.map(_.expression)),
      bound.slots.map(_.base),
      bound.slots.map(_.keys),
      kinds,
      Array.tabulate(nodes)(n => if (kinds(n) == Program.Leaf && !invalid(n)) leaf(n).slot else -1),
      IntLists((0 until nodes).map { n =>
        if (kinds(n) == Program.Leaf && !invalid(n)) leaf(n).intervals else Array.empty[Int]
      }),
      children,
      IntLists.group(nodes, below.toArray, above.toArray),
      IntLists.group(nodes, roots, roots.indices.toArray),
      roots,
      always.toArray,
      firing.keys.toArray.sorted,
      bound.slots.indices.map(s => triggers(firing.getOrElse(s, Nil), bound.slots(s).keys.maxCode)).toArray,
      bound.slots.indices.filter(s => isComputed(s) && !wholeTexts(s)).toArray,
      if (bound.texts.isEmpty) bound.texts else order.map(bound.texts(_)),
      order.map(segment.subscriptionIds(_)),
      order.map(segment.subscriptionPriorities(_)))
  }

  private def isComputed(slot: Int): Boolean =
    bound.slots(slot).base >= 0 || bound.slots(slot).expression.children.nonEmpty

  private def leaf(node: Int): Leaf = bound.leaves(segment.nodePredicates(node)).toOption.get

  private def triggers(leaves: Seq[Int], max: Int): Triggers = {
    val (codes, nodes) = (ArrayBuffer.empty[Int], ArrayBuffer.empty[Int])
    val (upTo, from) = (ArrayBuffer.empty[(Int, Int)], ArrayBuffer.empty[(Int, Int, Int)])
    leaves.foreach { n =>
      Codes.pairs(leaf(n).intervals).foreach { case (start, last) =>
        if (start == Keys.NullCode) { codes += start; nodes += n }
        val first = math.max(start, 1)
        if (first == last) { codes += first; nodes += n }
        else if (first < last && first == 1 && last < max) upTo += ((last, n))
        else if (first < last) from += ((first, last, n))
      }
    }
    val down = upTo.sortBy(-_._1)
    val ascending = from.sortBy(_._1)
    new Triggers(
      if (codes.isEmpty) new IntLists(new Array[Int](1), Array.empty)
      else IntLists.group(codes.max + 1, codes.toArray, nodes.toArray),
      down.map(_._1).toArray,
      down.map(_._2).toArray,
      ascending.map(_._1).toArray,
      ascending.map(_._2).toArray,
      ascending.map(_._3).toArray)
  }

  /** Guesses of how often a node is true, and of what it costs to find out, in the absence of statistics. */
  private final class Cost {
    private val selectivity = new Array[Double](nodes)
    private val expense = new Array[Double](nodes)

    (0 until nodes).foreach { n =>
      if (!invalid(n)) kinds(n) match {
        case Program.Leaf =>
          selectivity(n) = shareOfCodes(leaf(n))
          expense(n) = expenseOf(leaf(n).slot)
        case kind =>
          val all = segment.nodeChildren(n)
          val chances = all.map(selectivity(_))
          selectivity(n) = if (kind == Program.And) chances.product else math.min(1.0, chances.sum)
          // To see an AND fire it is enough to watch one child, for an OR all must be watched.
          expense(n) =
            if (kind == Program.And) all.map(expense(_)).minOption.getOrElse(0.0) else all.map(expense(_)).sum
      }
    }

    /** The order in which nodes are preferred to wait for: what is cheap to watch first, then what is rarely true. */
    def ofWatching(n: Int): (Double, Double) = (expense(n), selectivity(n))

    /** The order in which nodes are asked: the same, but single tests before whole subexpressions. */
    def ofAsking(n: Int): (Double, Boolean, Double) = (expense(n), kinds(n) != Program.Leaf, selectivity(n))

    private def shareOfCodes(leaf: Leaf): Double = {
      val codes = bound.slots(leaf.slot).keys.maxCode + 1.0
      Codes.pairs(leaf.intervals).map { case (first, last) =>
        (if (first == last) 2 else last - first + 1) / codes
      }.sum.min(1.0)
    }

    // A column is read anyway; an expression or a test of a text must be evaluated by Spark, row by row.
    private def expenseOf(slot: Int): Double = if (isComputed(slot)) 1.0 else 0.0
  }
}
