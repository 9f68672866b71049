package sparkrules.compile

import java.util.Arrays

import scala.collection.mutable
import scala.collection.mutable.ArrayBuffer

import sparkrules.program.{Dense, DenseOp, Forest}
import sparkrules.value.{Codes, IntBuffer}

/** Writes the code of [[Dense]]. */
private final class DenseCompiler(subscriptions: Array[Int], conditions: Conditions) {
  import conditions.{forest, tests}

  private val code = new IntBuffer
  private val places = mutable.LinkedHashMap.empty[Int, Int]

  // Per node: the number under which it is kept aside, or -1.
  private val saved: Array[Int] = {
    val uses = new Array[Int](forest.size)
    subscriptions.foreach(s => uses(forest.roots(s)) = 1)
    (forest.size - 1 to 0 by -1).foreach(n => if (uses(n) > 0) forest.children(n).foreach(uses(_) += 1))
    var count = 0
    Array.tabulate(forest.size) { n =>
      if (uses(n) > 1 && forest.kinds(n) != Forest.Predicate) { count += 1; count - 1 } else -1
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
    while (i < subscriptions.length) {
      val root = forest.roots(subscriptions(i))
      var next = i + 1
      while (next < subscriptions.length && forest.roots(subscriptions(next)) == root) next += 1
      put(root)
      code += DenseOp.Store
      code += next - i
      i = next
    }
    new Dense(subscriptions, places.keys.toArray, withCuts(), code.toArray, saved.max + 1)
  }

  /** Replaces the codes in the operands of tests by their places among all such codes of the slot. */
  private def withCuts(): Array[Array[Int]] = {
    val cuts = Array.fill(places.size)(mutable.HashSet.empty[Int])
    forTests { (place, operand) => cuts(place) += code(operand) }
    val sorted = cuts.map(_.toArray.sorted)
    forTests { (place, operand) => code(operand) = Arrays.binarySearch(sorted(place), code(operand)) }
    sorted
  }

  private def forTests(f: (Int, Int) => Unit): Unit = {
    var pc = 0
    while (pc < code.length) {
      val op = code(pc) & DenseOp.Mask
      if (op <= DenseOp.OrTest) {
        f(code(pc) >>> DenseOp.Bits, pc + 1)
        f(code(pc) >>> DenseOp.Bits, pc + 2)
        pc += 3
      } else pc += (if (op == DenseOp.IfEmpty || op == DenseOp.Store) 2 else 1)
    }
  }

  /** Code that puts the rows for which a node is true on top. */
  private def put(node: Int): Unit =
    if (saved(node) >= 0) code += DenseOp.SetSaved | (saved(node) << DenseOp.Bits) else putAnew(node)

  private def putAnew(node: Int): Unit = forest.kinds(node) match {
    case Forest.Predicate => test(conditions.leafTests(node), DenseOp.Set)
    case kind =>
      val children = forest.children(node).sortBy { child =>
        (forest.kinds(child) != Forest.Predicate && saved(child) < 0,
          if (kind == Forest.And) conditions.chances(child) else 0.0)
      }
      val (leafOp, op) = if (kind == Forest.And) (DenseOp.AndTest, DenseOp.And) else (DenseOp.OrTest, DenseOp.Or)
      val ends = ArrayBuffer.empty[Int]
      children.indices.foreach { i =>
        val child = children(i)
        if (i == 0) put(child)
        else if (saved(child) >= 0) {
          code += (if (kind == Forest.And) DenseOp.AndSaved else DenseOp.OrSaved) | (saved(child) << DenseOp.Bits)
        } else if (isSimple(child, kind)) test(conditions.leafTests(child), leafOp)
        else {
          if (kind == Forest.And) { code += DenseOp.IfEmpty; code += 0; ends += code.length - 1 }
          put(child)
          code += op
        }
      }
      ends.foreach(code(_) = code.length)
  }

  private def isSimple(node: Int, parent: Byte): Boolean =
    forest.kinds(node) == Forest.Predicate && (parent == Forest.Or || tests.isInterval(conditions.leafTests(node)))

  private def test(test: Int, first: Int): Unit = {
    val place = places.getOrElseUpdate(tests.slot(test), places.size)
    Codes.pairs(tests.intervals(test)).zipWithIndex.foreach { case ((from, to), i) =>
      code += (if (i == 0) first else DenseOp.OrTest) | (place << DenseOp.Bits)
      code += from
      code += to + 1
    }
    if (tests.isNever(test)) { code += first | (place << DenseOp.Bits); code += 0; code += 0 }
  }
}

object DenseCompiler {

  /** @param subscriptions those to be decided here, ascending */
  def apply(subscriptions: Array[Int], conditions: Conditions): Dense =
    if (subscriptions.isEmpty) Dense.Empty else new DenseCompiler(subscriptions, conditions).compile()
}
