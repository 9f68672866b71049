package sparkrules.store

import scala.collection.mutable
import scala.collection.mutable.ArrayBuffer

import org.apache.spark.unsafe.types.UTF8String

import sparkrules.value.{IntBuffer, IntLists}

/**
 * Segments as one, without the rules that are gone and what only they used. What is equal in two segments
 * becomes one: attributes, constants, predicates, and so the subexpressions that rules of different segments share.
 */
final class SegmentMerge {
  private val attributes = mutable.LinkedHashMap.empty[String, Int]
  private val constants = mutable.LinkedHashMap.empty[(String, String), Int]
  private val predicates = mutable.LinkedHashMap.empty[(Int, String, Seq[Int]), Int]
  private val nodes = mutable.LinkedHashMap.empty[(String, Int, Seq[Int]), Int]
  private val ids = ArrayBuffer.empty[UTF8String]
  private val (roots, priorities) = (new IntBuffer, new IntBuffer)
  private val texts = ArrayBuffer.empty[() => Array[String]]
  private val (from, until) = (ArrayBuffer.empty[Long], ArrayBuffer.empty[Long])
  private val functions = mutable.LinkedHashSet.empty[String]

  /** @param gone the rows of the segment's rules to leave out */
  def add(segment: Segment, gone: Array[Int]): Unit = {
    val isGone = new java.util.BitSet
    gone.foreach(isGone.set)
    val kept = segment.rules.ids.indices.filterNot(isGone.get)
    val numbers = nodesOf(segment, kept)
    kept.foreach { rule =>
      ids += segment.rules.ids(rule)
      roots += numbers(segment.rules.nodes(rule))
      priorities += segment.rules.priorities(rule)
      from += segment.rules.validFrom(rule)
      until += segment.rules.validUntil(rule)
    }
    texts += (() => kept.map(segment.rules.texts(_)).toArray)
    functions ++= segment.functions
  }

  /** Per node of a segment: its number here, or -1 if no rule that is kept needs it. */
  private def nodesOf(segment: Segment, kept: Seq[Int]): Array[Int] = {
    val stored = segment.forest.nodes
    val isUsed = new Array[Boolean](stored.size)
    kept.foreach(rule => isUsed(segment.rules.nodes(rule)) = true)
    (stored.size - 1 to 0 by -1).foreach(n => if (isUsed(n)) stored.children(n).foreach(isUsed(_) = true))
    val numbers = Array.fill(stored.size)(-1)
    (0 until stored.size).filter(isUsed(_)).foreach { n =>
      val operator = stored.operators(n)
      val key =
        if (operator == StoredNodes.Predicate) (operator, predicateOf(segment.forest, stored.predicates(n)), Nil)
        else (operator, -1, stored.children(n).map(numbers(_)).distinct.sorted.toSeq)
      numbers(n) = nodes.getOrElseUpdate(key, nodes.size)
    }
    numbers
  }

  private def predicateOf(forest: StoredForest, p: Int): Int = {
    val attribute = forest.attributes(forest.predicates.attributes(p))
    val own = forest.predicates.constants(p).map { c =>
      constants.getOrElseUpdate((forest.constants.kinds(c), forest.constants.texts(c)), constants.size)
    }
    val key = (attributes.getOrElseUpdate(attribute, attributes.size), forest.predicates.operators(p), own.toSeq)
    predicates.getOrElseUpdate(key, predicates.size)
  }

  def result(): Segment = {
    val forest = new StoredForest(
      attributes.keysIterator.toArray,
      new StoredConstants(constants.keysIterator.map(_._1).toArray, constants.keysIterator.map(_._2).toArray),
      new StoredPredicates(
        predicates.keysIterator.map(_._1).toArray,
        predicates.keysIterator.map(_._2).toArray,
        IntLists(predicates.keysIterator.map(_._3.toArray).toSeq)),
      new StoredNodes(
        nodes.keysIterator.map(_._1).toArray,
        nodes.keysIterator.map(_._2).toArray,
        IntLists(nodes.keysIterator.map(_._3.toArray).toSeq)))
    val rules = new StoredRules(ids.toArray, roots.toArray, priorities.toArray, from.toArray, until.toArray)(
      Array.concat(texts.toSeq.map(_()): _*))
    new Segment(forest, rules, functions.toArray)
  }
}

object SegmentMerge {

  /** @param gone per segment: the rows of its rules to leave out */
  def apply(segments: Seq[Segment], gone: Seq[Array[Int]]): Segment =
    if (segments.length == 1 && gone.head.isEmpty) segments.head
    else {
      val merge = new SegmentMerge
      segments.zip(gone).foreach { case (segment, rows) => merge.add(segment, rows) }
      merge.result()
    }
}
