package sparkrules.catalog

import scala.collection.mutable

import sparkrules.store.{StoredForest, StoredNodes}
import sparkrules.value.Codes

/**
 * The share of rows for which each node of a forest is true: at least, probably, at most. The formulas are those of
 * Bittner and Hinze, "Generalizing Subscriptions" (2005), section 4; predicates of one slot under one AND or OR are one
 * set of codes, whose rows are counted. Python has the same (`forest_selectivity.py`).
 */
private final class Selectivities(forest: StoredForest, counted: Option[CountedPredicates]) {
  private val nodes = forest.nodes
  private val known = counted.filter(_.rows > 0)
  private val rows: Double = known.fold(1.0)(_.rows.toDouble)
  private val codes = new Array[CodedPredicate](nodes.size)
  private val (least, shares, most) =
    (new Array[Double](nodes.size), new Array[Double](nodes.size), new Array[Double](nodes.size))
  (0 until nodes.size).foreach(estimate)

  def min(node: Int): Double = least(node) / rows
  def avg(node: Int): Double = shares(node)
  def max(node: Int): Double = most(node) / rows

  private def estimate(node: Int): Unit =
    if (nodes.operators(node) == StoredNodes.Predicate) {
      val predicate = nodes.predicates(node)
      known.flatMap(_.of(forest, predicate)) match {
        case Some(coded) =>
          codes(node) = coded
          put(node, countedRows(coded))
        case None =>
          val guess = Guess(forest.predicates.operators(predicate), forest.predicates.constants.length(predicate))
          put(node, Part(0, guess, rows))
      }
    } else {
      val isAnd = nodes.operators(node) == "and"
      val children = nodes.children(node)
      val bySlot = mutable.LinkedHashMap.empty[Int, mutable.ArrayBuffer[Int]]
      children.foreach(c => if (codes(c) != null) bySlot.getOrElseUpdate(codes(c).slot, mutable.ArrayBuffer.empty) += c)
      val coded: Seq[(CodedPredicate, Part)] = bySlot.toSeq.sortBy(_._1).map { case (_, own) =>
        if (own.length == 1) (codes(own.head), part(own.head))
        else {
          val together = combined(own.toSeq.map(codes(_)), isAnd)
          (together, countedRows(together))
        }
      }
      val loose = children.toSeq.filter(codes(_) == null).map(part)
      if (loose.isEmpty && coded.length == 1) codes(node) = coded.head._1
      put(node, if (isAnd) all(coded.map(_._2) ++ loose) else any(coded.map(_._2) ++ loose))
    }

  private def combined(parts: Seq[CodedPredicate], isAnd: Boolean): CodedPredicate = {
    def of(codes: CodedPredicate => Array[Int]): Array[Int] =
      if (isAnd) parts.map(codes).reduce(Codes.intersection) else Codes.union(parts.map(codes))
    CodedPredicate(parts.head.slot, of(_.inside), of(_.touched))
  }

  private def countedRows(coded: CodedPredicate): Part = {
    val slot = known.get.slots(coded.slot)
    val (least, most) = (slot.rows(coded.inside).toDouble, slot.rows(coded.touched).toDouble)
    Part(least, (least + most) / 2 / rows, most)
  }

  private def all(parts: Seq[Part]): Part = Part(
    Math.max(0.0, parts.map(_.least).sum - (parts.length - 1) * rows),
    parts.map(_.share).product,
    parts.map(_.most).minOption.getOrElse(rows))

  private def any(parts: Seq[Part]): Part = Part(
    parts.map(_.least).maxOption.getOrElse(0.0),
    1.0 - parts.map(1.0 - _.share).product,
    Math.min(rows, parts.map(_.most).sum))

  private def part(node: Int): Part = Part(least(node), shares(node), most(node))

  private def put(node: Int, part: Part): Unit = {
    least(node) = part.least
    most(node) = part.most
    shares(node) = Math.min(Math.max(part.share, part.least / rows), part.most / rows)
  }

  private case class Part(least: Double, share: Double, most: Double)
}

/** The share of rows for which a predicate is true, where nothing was counted. */
private object Guess {
  private val Shares = Map(
    "=" -> 0.1, "<=>" -> 0.1, "<" -> 1.0 / 3, "<=" -> 1.0 / 3, ">" -> 1.0 / 3, ">=" -> 1.0 / 3,
    "is null" -> 0.05, "is true" -> 0.5, "is false" -> 0.45, "is not true" -> 0.5, "is not false" -> 0.55,
    "like" -> 0.02, "ilike" -> 0.02, "rlike" -> 0.02, "contains" -> 0.02, "startswith" -> 0.02, "endswith" -> 0.02,
    "in network" -> 0.02, "in list" -> 0.02)

  def apply(operator: String, constants: Int): Double = operator match {
    case "in" => Math.min(0.1 * constants, 0.5)
    case "<>" => 1 - Shares("=")
    case "is not null" => 1 - Shares("is null")
    case s"not $positive" => 1 - apply(positive, constants)
    case _ => Shares(operator)
  }
}
