package sparkrules.scan

import scala.collection.immutable.ArraySeq
import scala.collection.mutable
import scala.collection.mutable.ArrayBuffer

import sparkrules.program.Forest
import sparkrules.value.Codes

/**
 * What rules need of the columns that sources can filter by, whatever else they need: a [[Box]] per alternative. An AND
 * needs what its predicates need. An OR has alternatives, and each of them must need something.
 *
 * {{{
 *   price < 20 AND lower(title) = 'emma'             one box: price < 20
 *   (price < 20 AND signed) OR author = 'Austen'     two boxes: price < 20 AND signed; author = 'Austen'
 *   price < 20 OR lower(title) = 'emma'              nothing: a row with any price can match
 * }}}
 *
 * @param columns those of the forest's slots
 * @param all the columns of the version
 */
final class RuleNeeds(forest: Forest, columns: PartColumns, all: IndexedSeq[ScanColumn]) {

  // Per node: whether it needs anything of a column.
  private val isBounded = new Array[Boolean](forest.size)
  // Per node: the column, if all its predicates are of one; or -1.
  private val only = new Array[Int](forest.size)
  // Per node with such a column: the codes for which it is true.
  private val codes = new Array[Array[Int]](forest.size)

  (0 until forest.size).foreach { node =>
    if (forest.kinds(node) == Forest.Predicate) {
      only(node) = columns.column(forest.slots(node))
      isBounded(node) = only(node) >= 0 && {
        codes(node) = columns.codes(forest.slots(node), forest.intervals(node))
        all(only(node)).canFilter(codes(node))
      }
    } else {
      var (i, end) = (forest.children.start(node), forest.children.end(node))
      val isAnd = forest.kinds(node) == Forest.And
      only(node) = if (i < end) only(forest.children.values(i)) else -1
      isBounded(node) = !isAnd && i < end
      while (i < end) {
        val child = forest.children.values(i)
        if (only(child) != only(node)) only(node) = -1
        if (isAnd) isBounded(node) |= isBounded(child) else isBounded(node) &= isBounded(child)
        i += 1
      }
      // `d > 5 AND d < 10` is bounded though the first is not; `d < 5 OR d >= 5` is not though both are.
      if (only(node) >= 0) {
        val own = forest.children(node).toSeq.map(codes(_))
        codes(node) = if (isAnd) own.reduce(Codes.intersection(_, _)) else Codes.union(own)
        isBounded(node) = all(only(node)).canFilter(codes(node))
      }
    }
  }

  /** The boxes of these rules, by number. Call it only if all rules are bounded. */
  def boxes(rules: Array[Int]): IndexedSeq[Box] = {
    val found = ArrayBuffer.empty[Box]
    // Many rules differ only in what is no column's: per what ANDs need, whether that is a box.
    val known = mutable.HashMap.empty[ArraySeq[Int], Boolean]
    val isNeeded = new Array[Boolean](forest.size)
    rules.foreach(rule => isNeeded(forest.roots(rule)) = true)
    (forest.size - 1 to 0 by -1).foreach { node =>
      if (isNeeded(node)) {
        val children = forest.children(node)
        if (only(node) >= 0) found += Box.of(Seq(only(node) -> codes(node)))
        else if (forest.kinds(node) == Forest.Or) children.foreach(isNeeded(_) = true)
        else {
          val own = requirements(node)
          val isBox = known.getOrElseUpdate(ArraySeq.unsafeWrapArray(own), {
            val box = Box.of(own.map(child => only(child) -> codes(child)))
            val usable = box.columns.indices.filter(i => all(box.columns(i)).canFilter(box.codes(i)))
            if (usable.nonEmpty) found += new Box(usable.map(box.columns(_)).toArray, usable.map(box.codes(_)).toArray)
            usable.nonEmpty
          })
          if (!isBox) isNeeded(children.filter(isBounded(_)).minBy(forest.children.length)) = true
        }
      }
    }
    found.filterNot(_.isNever).toIndexedSeq
  }

  /** Whether a rule needs anything of a column. */
  def bounds(rule: Int): Boolean = isBounded(forest.roots(rule))

  /** The nodes of single columns that an AND needs, each once. */
  private def requirements(node: Int): Array[Int] =
    forest.children(node).flatMap { child =>
      if (only(child) >= 0) Array(child)
      else if (forest.kinds(child) == Forest.And) requirements(child)
      else Array.empty[Int]
    }.distinct.sorted
}
