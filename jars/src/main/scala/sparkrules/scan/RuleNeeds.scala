package sparkrules.scan

import java.util.Arrays

import scala.collection.mutable.ArrayBuffer

import sparkrules.program.Forest
import sparkrules.value.{Codes, DistinctLists, IntBuffer}

/**
 * What rules need of the columns that sources can filter by, whatever else they need: a box per alternative; see
 * [[Boxes]]. An AND needs what its predicates need. An OR has alternatives, and each of them must need something.
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
private final class RuleNeeds(forest: Forest, columns: PartColumns, all: IndexedSeq[ScanColumn]) {

  // Per node: whether it needs anything of a column.
  private val isBounded = new Array[Boolean](forest.size)
  // Per node: the column, if all its predicates are of one; or -1.
  private val only = new Array[Int](forest.size)
  // Per node with such a column: the codes for which it is true.
  private val codes = new Array[Array[Int]](forest.size)

  // The nodes that an AND needs. Per node: the last AND that was seen to need it; no AND is the first node.
  private val found = new IntBuffer
  private val user = new Array[Int](forest.size)

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

  /** Adds the boxes of these rules, by number. Call it only if all rules are bounded. */
  def addBoxes(rules: Array[Int], boxes: BoxesBuilder): Unit = {
    // Per node of one column: its set + 1, or 0.
    val sets = new Array[Int](forest.size)
    def setOf(node: Int): Int = {
      if (sets(node) == 0) sets(node) = boxes.addSet(only(node), codes(node)) + 1
      sets(node) - 1
    }
    // Many rules differ only in what is no column's. Per list of sets that ANDs need: whether that is a box.
    val (lists, isBox) = (new DistinctLists, ArrayBuffer.empty[Boolean])
    val isNeeded = new Array[Boolean](forest.size)
    rules.foreach(rule => isNeeded(forest.roots(rule)) = true)
    var node = forest.size - 1
    while (node >= 0) {
      if (isNeeded(node)) {
        if (only(node) >= 0) boxes.addBox(Array(setOf(node)))
        else if (forest.kinds(node) == Forest.Or) forest.children(node).foreach(isNeeded(_) = true)
        else {
          val own = requirements(node)
          val list = lists.add(own)
          if (list == isBox.length) {
            var i = 0
            while (i < own.length) { own(i) = setOf(own(i)); i += 1 }
            isBox += boxes.addBox(own)
          }
          if (!isBox(list)) isNeeded(forest.children(node).filter(isBounded(_)).minBy(forest.children.length)) = true
        }
      }
      node -= 1
    }
  }

  /** Whether a rule needs anything of a column. */
  def bounds(rule: Int): Boolean = isBounded(forest.roots(rule))

  /** The nodes of single columns that an AND needs, each once. */
  private def requirements(node: Int): Array[Int] = {
    def collect(and: Int): Unit = {
      var i = forest.children.start(and)
      val end = forest.children.end(and)
      while (i < end) {
        val child = forest.children.values(i)
        if (only(child) >= 0) { if (user(child) != node) { user(child) = node; found += child } }
        else if (forest.kinds(child) == Forest.And) collect(child)
        i += 1
      }
    }
    found.length = 0
    collect(node)
    val sorted = found.toArray
    Arrays.sort(sorted)
    sorted
  }
}
