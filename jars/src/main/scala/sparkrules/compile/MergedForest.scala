package sparkrules.compile

import scala.collection.immutable.ArraySeq
import scala.collection.mutable
import scala.collection.mutable.ArrayBuffer

import sparkrules.program.Forest
import sparkrules.value.{Codes, IntLists}

/**
 * A forest in which the predicates of one slot under one AND or OR are a single predicate. So each node can be asked by
 * itself whether it could be true in a region: `price > 5 AND price < 3` becomes a predicate without codes, which never
 * is. An AND within an AND is merged as well.
 *
 * A predicate without a slot, of a column that is not there, could always be true. It is kept where it alone decides.
 */
object MergedForest {

  def of(forest: Forest): Forest = {
    val merging = new Merging(forest)
    val merged = merging.result
    merged.subset(merged.roots.toSeq)
  }

  // Each AND above a nested one has a copy of its predicates.
  private val MostNested = 1000

  private final class Merging(forest: Forest) {
    private val (kinds, slots) = (ArrayBuffer.empty[Byte], ArrayBuffer.empty[Int])
    private val (intervals, children) = (ArrayBuffer.empty[Array[Int]], ArrayBuffer.empty[Array[Int]])
    private val predicates = mutable.HashMap.empty[(Int, ArraySeq[Int]), Int]
    private lazy val always = add(Forest.Predicate, -1, Array.empty, Array.empty)
    // Per node of the forest: its node here.
    private val nodes = new Array[Int](forest.size)

    def result: Forest = {
      (0 until forest.size).foreach { node =>
        nodes(node) = forest.kinds(node) match {
          case Forest.Predicate if forest.slots(node) < 0 => always
          case Forest.Predicate => predicate(forest.slots(node), forest.intervals(node))
          case Forest.And => and(forest.children(node).map(nodes(_)))
          case _ => or(forest.children(node).map(nodes(_)))
        }
      }
      new Forest(
        kinds.toArray, slots.toArray, IntLists(intervals), IntLists(children), forest.roots.map(nodes(_)))
    }

    private def and(parts: Array[Int]): Int = {
      val flat = parts.flatMap { part =>
        val isNested = kinds(part) == Forest.And && children(part).count(isPredicate) <= MostNested
        if (isNested) children(part) else Array(part)
      }
      val merged = bySlot(flat.filter(!isAlways(_)))(_.reduce(Codes.intersection(_, _)))
      if (merged.isEmpty) always else junction(Forest.And, merged)
    }

    private def or(parts: Array[Int]): Int =
      if (parts.exists(isAlways)) always else junction(Forest.Or, bySlot(parts)(Codes.union))

    /** The same nodes, with one predicate for all predicates of a slot. */
    private def bySlot(all: Array[Int])(merge: Seq[Array[Int]] => Array[Int]): Array[Int] = {
      val (own, junctions) = all.distinct.partition(isPredicate)
      own.groupBy(slots(_)).toArray.sortBy(_._1).map {
        case (_, Array(one)) => one
        case (slot, several) => predicate(slot, merge(several.toSeq.map(intervals(_))))
      } ++ junctions
    }

    private def junction(kind: Byte, parts: Array[Int]): Int =
      if (parts.length == 1) parts.head else add(kind, -1, Array.empty, parts)

    private def predicate(slot: Int, codes: Array[Int]): Int = {
      val key = (slot, ArraySeq.unsafeWrapArray(codes))
      predicates.getOrElseUpdate(key, add(Forest.Predicate, slot, codes, Array.empty))
    }

    private def isPredicate(node: Int): Boolean = kinds(node) == Forest.Predicate

    private def isAlways(node: Int): Boolean = isPredicate(node) && slots(node) < 0

    private def add(kind: Byte, slot: Int, codes: Array[Int], parts: Array[Int]): Int = {
      kinds += kind
      slots += slot
      intervals += codes
      children += parts
      kinds.length - 1
    }
  }
}
