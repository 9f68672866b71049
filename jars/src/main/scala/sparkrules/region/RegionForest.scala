package sparkrules.region

import scala.collection.mutable
import scala.collection.mutable.ArrayBuffer

import sparkrules.bind.Slot
import sparkrules.compile.PredicateTable
import sparkrules.program.Forest
import sparkrules.value.IntLists

/**
 * The shared subexpressions of a rule set, to be asked which could be true. Each node needs all, or any, of some tests
 * and of some nodes before it. Where a node depends on one slot only, it is one test: under one AND or OR, tests of a
 * slot are put together, so that `price > 5 AND price < 3` is never true.
 *
 * @param tests per test: its codes, as in [[Codes]]
 * @param testSlots per test: its slot
 * @param nodeTests per node: the tests that it needs
 * @param nodeChildren per node: the nodes that it needs
 * @param isAll per node: whether it needs all of them, else one
 * @param roots per subscription: its node
 */
final class RegionForest(
    val tests: IntLists,
    val testSlots: Array[Int],
    val nodeTests: IntLists,
    val nodeChildren: IntLists,
    val isAll: Array[Boolean],
    val roots: Array[Int])
    extends Serializable {
  def size: Int = isAll.length
}

object RegionForest {

  /** @param forest a leaf without a slot could always be true */
  def of(forest: Forest, slots: Array[Slot]): RegionForest = {
    val tests = new PredicateTable(slots)
    // A node is a test, or (else -1) it has a number; Always stands for what could always be true.
    val (asTest, numbers) = (new Array[Int](forest.size), new Array[Int](forest.size))
    val (nodeTests, nodeChildren) = (ArrayBuffer.empty[Array[Int]], ArrayBuffer.empty[Array[Int]])
    val isAll = ArrayBuffer.empty[Boolean]
    def node(all: Boolean, ownTests: Array[Int], children: Array[Int]): Int = {
      nodeTests += ownTests
      nodeChildren += children
      isAll += all
      isAll.length - 1
    }
    // What an AND within an AND consists of belongs to the outer one as well.
    val wholes = mutable.HashMap.empty[Int, (Array[Int], Array[Int])]
    (0 until forest.size).foreach { n =>
      asTest(n) = -1
      if (forest.kinds(n) == Forest.Predicate) {
        if (forest.slots(n) < 0) asTest(n) = Always else asTest(n) = tests.of(forest.slots(n), forest.intervals(n))
      } else {
        val isAnd = forest.kinds(n) == Forest.And
        val (nested, plain) =
          forest.children(n).partition(c => isAnd && wholes.get(c).exists(_._1.length <= MostNested))
        val (simple, complex) = plain.partition(asTest(_) != -1)
        val own = simple.map(asTest(_)) ++ nested.flatMap(wholes(_)._1)
        val children = (complex.map(numbers(_)) ++ nested.flatMap(wholes(_)._2)).distinct
        val bySlot = own.filter(_ != Always).distinct.groupBy(tests.slot).values.map { same =>
          if (isAnd) same.reduce(tests.both) else tests.any(same.toSeq)
        }.toArray
        val isAlways = own.contains(Always)
        if (isAnd) {
          if (children.isEmpty && bySlot.isEmpty) asTest(n) = Always
          else if (children.isEmpty && bySlot.length == 1) asTest(n) = bySlot.head
          else {
            wholes(n) = (bySlot, children)
            numbers(n) = node(all = true, bySlot, children)
          }
        } else if (isAlways) asTest(n) = Always
        else if (children.isEmpty && bySlot.length == 1) asTest(n) = bySlot.head
        else numbers(n) = node(all = false, bySlot, children)
      }
    }
    val ofTests = mutable.HashMap.empty[Int, Int]
    val roots = forest.roots.map { root =>
      if (asTest(root) == -1) numbers(root)
      else ofTests.getOrElseUpdate(asTest(root), {
        node(all = true, if (asTest(root) == Always) Array.empty else Array(asTest(root)), Array.empty)
      })
    }
    new RegionForest(
      IntLists((0 until tests.size).map(tests.intervals)), Array.tabulate(tests.size)(tests.slot),
      IntLists(nodeTests), IntLists(nodeChildren), isAll.toArray, roots)
  }

  private final val Always = -2
  private val MostNested = 1000
}
