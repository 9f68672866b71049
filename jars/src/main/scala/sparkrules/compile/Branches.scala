package sparkrules.compile

import scala.collection.mutable.ArrayBuffer

import sparkrules.program.{Forest, Op}

/** Writes code that branches on a term. */
private final class Branches(terms: Terms, out: CodeWriter) {
  import terms.costs.{childrenInOrder, forest, isPredicate, predicateOf, predicates, sizes}

  /** Code that goes on if a term is true, and otherwise jumps to what is patched into `otherwise` later. */
  def goOnIf(term: Int, otherwise: ArrayBuffer[Int]): Unit =
    if (term >= 0) otherwise += goOnIfPredicate(term) else goOnIfNode(terms.wholes(-1 - term), otherwise)

  /** Code that reports a rule if a predicate, which is an interval, is true. */
  def emitIf(predicate: Int, rule: Int): Unit = {
    putInterval(predicate, Op.EqualEmit, Op.UpToEmit, Op.FromEmit, Op.InEmit)
    out.words += rule
  }

  private def goOnIfNode(node: Int, otherwise: ArrayBuffer[Int]): Unit =
    if (isShared(node)) {
      out.putNode(Op.NodeElse, node)
      otherwise += out.hole()
    } else forest.kinds(node) match {
      case Forest.Predicate => otherwise += goOnIfPredicate(predicateOf(node))
      case Forest.And => childrenInOrder(node).foreach(goOnIfNode(_, otherwise))
      case _ =>
        val arrivals = ArrayBuffer.empty[Int]
        val ordered = childrenInOrder(node)
        ordered.init.foreach(jumpIfNode(_, arrivals))
        goOnIfNode(ordered.last, otherwise)
        out.patch(arrivals)
    }

  private def jumpIfNode(node: Int, arrivals: ArrayBuffer[Int]): Unit =
    if (isShared(node)) {
      out.putNode(Op.NodeThen, node)
      arrivals += out.hole()
    } else forest.kinds(node) match {
      case Forest.Predicate => arrivals += jumpIfPredicate(predicateOf(node))
      case Forest.Or => childrenInOrder(node).foreach(jumpIfNode(_, arrivals))
      case _ =>
        val otherwise = ArrayBuffer.empty[Int]
        goOnIfNode(node, otherwise)
        arrivals += out.jump()
        out.patch(otherwise)
    }

  /** Whether a node is too large to be written out wherever it is needed; or a constant. */
  private def isShared(node: Int): Boolean =
    sizes(node) > Branches.LargestInline || !isPredicate(node) && forest.children.length(node) == 0

  private def goOnIfPredicate(predicate: Int): Int = {
    if (predicates.isInterval(predicate)) putInterval(predicate, Op.EqualElse, Op.UpToElse, Op.FromElse, Op.InElse)
    else out.putSet(Op.SetElse, predicates.slot(predicate), predicate)
    out.hole()
  }

  private def jumpIfPredicate(predicate: Int): Int = {
    val slot = predicates.slot(predicate)
    if (predicates.isPoint(predicate)) {
      out.put(Op.EqualThen, slot)
      out.words += predicates.first(predicate)
    } else if (predicates.isInterval(predicate)) {
      out.put(Op.InThen, slot)
      out.words += predicates.first(predicate)
      out.words += predicates.last(predicate)
    } else out.putSet(Op.SetThen, slot, predicate)
    out.hole()
  }

  /** A predicate that is an interval, by the shortest of these operations. */
  private def putInterval(predicate: Int, equal: Int, upTo: Int, from: Int, in: Int): Unit = {
    val slot = predicates.slot(predicate)
    if (predicates.isPoint(predicate)) { out.put(equal, slot); out.words += predicates.first(predicate) }
    else if (predicates.isUpTo(predicate)) { out.put(upTo, slot); out.words += predicates.last(predicate) }
    else if (predicates.isFrom(predicate)) { out.put(from, slot); out.words += predicates.first(predicate) }
    else {
      out.put(in, slot)
      out.words += predicates.first(predicate)
      out.words += predicates.last(predicate)
    }
  }
}

private object Branches {
  private val LargestInline = 16
}
