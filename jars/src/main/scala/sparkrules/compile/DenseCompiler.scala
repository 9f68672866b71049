package sparkrules.compile

import java.util.Arrays

import scala.collection.mutable
import scala.collection.mutable.ArrayBuffer

import sparkrules.program.{Dense, DenseOp, Forest}
import sparkrules.value.{Codes, IntBuffer}

/** Writes the code of [[Dense]]. */
private final class DenseCompiler(rules: Array[Int], costs: NodeCosts) {
  import costs.{forest, isPredicate, predicateOf, predicates}

  private val code = new IntBuffer
  private val places = mutable.LinkedHashMap.empty[Int, Int]

  // Per node: the number under which it is kept aside, or -1.
  private val saved: Array[Int] = {
    val uses = new Array[Int](forest.size)
    rules.foreach(rule => uses(forest.roots(rule)) = 1)
    (forest.size - 1 to 0 by -1).foreach(n => if (uses(n) > 0) forest.children(n).foreach(uses(_) += 1))
    var count = 0
    Array.tabulate(forest.size) { n =>
      if (uses(n) > 1 && !isPredicate(n)) { count += 1; count - 1 } else -1
    }
  }

  def compile(): Dense = {
    saved.indices.foreach { node =>
      if (saved(node) >= 0) {
        putAnew(node)
        code += DenseOp.Save | (saved(node) << DenseOp.Bits)
      }
    }
    var i = 0
    while (i < rules.length) {
      val root = forest.roots(rules(i))
      var next = i + 1
      while (next < rules.length && forest.roots(rules(next)) == root) next += 1
      put(root)
      code += DenseOp.Store
      code += next - i
      i = next
    }
    new Dense(rules, places.keys.toArray, withCuts(), code.toArray, saved.max + 1)
  }

  /** Replaces the codes in the operands of predicates by their places among all such codes of the slot. */
  private def withCuts(): Array[Array[Int]] = {
    val cuts = Array.fill(places.size)(mutable.HashSet.empty[Int])
    forOperands { (place, operand) => cuts(place) += code(operand) }
    val sorted = cuts.map(_.toArray.sorted)
    forOperands { (place, operand) => code(operand) = Arrays.binarySearch(sorted(place), code(operand)) }
    sorted
  }

  private def forOperands(f: (Int, Int) => Unit): Unit = {
    var pc = 0
    while (pc < code.length) {
      val op = code(pc) & DenseOp.Mask
      if (op <= DenseOp.OrPredicate) {
        f(code(pc) >>> DenseOp.Bits, pc + 1)
        f(code(pc) >>> DenseOp.Bits, pc + 2)
        pc += 3
      } else pc += (if (op == DenseOp.IfEmpty || op == DenseOp.Store) 2 else 1)
    }
  }

  /** Code that pushes the rows for which a node is true. */
  private def put(node: Int): Unit =
    if (saved(node) >= 0) code += DenseOp.SetSaved | (saved(node) << DenseOp.Bits) else putAnew(node)

  private def putAnew(node: Int): Unit = forest.kinds(node) match {
    case Forest.Predicate => putPredicate(predicateOf(node), DenseOp.Set)
    case kind =>
      val children = forest.children(node).sortBy { child =>
        (!isPredicate(child) && saved(child) < 0, if (kind == Forest.And) costs.chances(child) else 0.0)
      }
      val (predicateOp, op) =
        if (kind == Forest.And) (DenseOp.AndPredicate, DenseOp.And) else (DenseOp.OrPredicate, DenseOp.Or)
      val ends = ArrayBuffer.empty[Int]
      children.indices.foreach { i =>
        val child = children(i)
        if (i == 0) put(child)
        else if (saved(child) >= 0) {
          code += (if (kind == Forest.And) DenseOp.AndSaved else DenseOp.OrSaved) | (saved(child) << DenseOp.Bits)
        } else if (isSimple(child, kind)) putPredicate(predicateOf(child), predicateOp)
        else {
          if (kind == Forest.And) { code += DenseOp.IfEmpty; code += 0; ends += code.length - 1 }
          put(child)
          code += op
        }
      }
      ends.foreach(code(_) = code.length)
  }

  private def isSimple(node: Int, parent: Byte): Boolean =
    isPredicate(node) && (parent == Forest.Or || predicates.isInterval(predicateOf(node)))

  private def putPredicate(predicate: Int, first: Int): Unit = {
    val place = places.getOrElseUpdate(predicates.slot(predicate), places.size)
    Codes.pairs(predicates.intervals(predicate)).zipWithIndex.foreach { case ((from, to), i) =>
      code += (if (i == 0) first else DenseOp.OrPredicate) | (place << DenseOp.Bits)
      code += from
      code += to + 1
    }
    if (predicates.isNever(predicate)) { code += first | (place << DenseOp.Bits); code += 0; code += 0 }
  }
}

private object DenseCompiler {

  /** @param rules those to be decided here, ascending */
  def apply(rules: Array[Int], costs: NodeCosts): Dense =
    if (rules.isEmpty) Dense.Empty else new DenseCompiler(rules, costs).compile()
}
