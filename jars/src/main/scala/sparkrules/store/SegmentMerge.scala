package sparkrules.store

import scala.collection.mutable
import scala.collection.mutable.ArrayBuffer

import org.apache.spark.unsafe.types.UTF8String

import sparkrules.value.{IntBuffer, IntLists}

/**
 * Segments as one, without the subscriptions that are gone nor what only they used. What is equal in two segments
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

  /** @param gone the rows of the segment's subscriptions to leave out */
  def add(segment: Segment, gone: Array[Int]): Unit = {
    val isGone = new java.util.BitSet
    gone.foreach(isGone.set)
    val kept = segment.ruleIds.indices.filterNot(isGone.get)
    val numbers = nodesOf(segment, kept)
    kept.foreach { s =>
      ids += segment.ruleIds(s)
      roots += numbers(segment.ruleNodes(s))
      priorities += segment.rulePriorities(s)
      from += segment.validFrom(s)
      until += segment.validUntil(s)
    }
    texts += (() => kept.map(segment.ruleTexts(_)).toArray)
    functions ++= segment.functions
  }

  /** Per node of a segment: its number here, if a subscription that is kept needs it. */
  private def nodesOf(segment: Segment, kept: Seq[Int]): Array[Int] = {
    val count = segment.nodeOperators.length
    val isUsed = new Array[Boolean](count)
    kept.foreach(s => isUsed(segment.ruleNodes(s)) = true)
    (count - 1 to 0 by -1).foreach(n => if (isUsed(n)) segment.nodeChildren(n).foreach(isUsed(_) = true))
    val numbers = Array.fill(count)(-1)
    (0 until count).foreach { n =>
      if (isUsed(n)) {
        val operator = segment.nodeOperators(n)
        val key =
          if (operator == "predicate") (operator, predicateOf(segment, segment.nodePredicates(n)), Nil)
          else (operator, -1, segment.nodeChildren(n).map(numbers(_)).distinct.sorted.toSeq)
        numbers(n) = nodes.getOrElseUpdate(key, nodes.size)
      }
    }
    numbers
  }

  private def predicateOf(segment: Segment, p: Int): Int = {
    val attribute = segment.attributes(segment.predicateAttributes(p))
    val own = segment.predicateConstants(p).map { c =>
      constants.getOrElseUpdate((segment.constantKinds(c), segment.constantTexts(c)), constants.size)
    }
    val key = (attributes.getOrElseUpdate(attribute, attributes.size), segment.predicateOperators(p), own.toSeq)
    predicates.getOrElseUpdate(key, predicates.size)
  }

  def result(): Segment = new Segment(
    attributes.keysIterator.toArray,
    constants.keysIterator.map(_._1).toArray,
    constants.keysIterator.map(_._2).toArray,
    predicates.keysIterator.map(_._1).toArray,
    predicates.keysIterator.map(_._2).toArray,
    IntLists(predicates.keysIterator.map(_._3.toArray).toSeq),
    nodes.keysIterator.map(_._1).toArray,
    nodes.keysIterator.map(_._2).toArray,
    IntLists(nodes.keysIterator.map(_._3.toArray).toSeq),
    ids.toArray,
    roots.toArray,
    priorities.toArray,
    () => Array.concat(texts.toSeq.map(_()): _*),
    from.toArray,
    until.toArray,
    functions.toArray)
}

object SegmentMerge {

  /** @param gone per segment: the rows of its subscriptions to leave out */
  def apply(segments: Seq[Segment], gone: Seq[Array[Int]]): Segment =
    if (segments.length == 1 && gone.head.isEmpty) segments.head
    else {
      val merge = new SegmentMerge
      segments.zip(gone).foreach { case (segment, rows) => merge.add(segment, rows) }
      merge.result()
    }
}
