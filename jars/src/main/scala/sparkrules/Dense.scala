package sparkrules

import java.util.Arrays

import scala.collection.mutable.ArrayBuffer

import org.apache.spark.sql.catalyst.InternalRow

/**
 * The part of a program that is evaluated for many rows at once, one bit for each. Where much is true of every row,
 * there is nothing to gain by looking only at what is true; here all conditions are evaluated, but for 255 rows in about
 * the time that the other part takes for one.
 *
 * @param subscriptions those that are decided here, ascending
 * @param slots the slots that their tests need
 * @param cuts per slot: the codes where a test begins to be true, or ends to be, ascending
 * @param code operations on a stack of sets of rows, see [[DenseOp]]; slots and cuts are given by their places
 * @param saved how many sets are kept aside, for subexpressions that several subscriptions share
 */
final class Dense(
    val subscriptions: Array[Int],
    val slots: Array[Int],
    val cuts: Array[Array[Int]],
    val code: Array[Int],
    val saved: Int)
    extends Serializable {
  def isEmpty: Boolean = subscriptions.isEmpty
  def bytes: Long = 4L * (subscriptions.length + slots.length + cuts.map(_.length.toLong).sum + code.length)
}

/**
 * {{{
 *   Set        from until    put the rows whose code of the slot lies between these cuts on top
 *   AndTest    from until    keep those on top for which it does, too
 *   OrTest     from until    add those for which it does
 *   And, Or                  the same with the second from the top, and drop one
 *   Save                     keep what is on top aside, under a number (instead of a slot); drop
 *   SetSaved, AndSaved, OrSaved   as with a test, but with what was kept aside
 *   IfEmpty    target        jump if there are none on top
 *   Store      n             they are the matches of the next n subscriptions; drop
 * }}}
 */
object DenseOp {
  final val Set = 0
  final val AndTest = 1
  final val OrTest = 2
  final val And = 3
  final val Or = 4
  final val IfEmpty = 5
  final val Store = 6
  final val Save = 7
  final val SetSaved = 8
  final val AndSaved = 9
  final val OrSaved = 10

  final val Bits = 4
  final val Mask = (1 << Bits) - 1
}

object Dense {
  val Empty: Dense = new Dense(Array.empty, Array.empty, Array.empty, Array.empty, 0)

  /** Rows that are evaluated at once, as words of bits; so few that numbers up to that many are bytes. */
  final val Words = 4
  final val Rows = 64 * Words - 1

  /** @param subscriptions those to be decided here, ascending */
  def compile(subscriptions: Array[Int], conditions: Conditions): Dense =
    if (subscriptions.isEmpty) Empty else new DenseCompiler(subscriptions, conditions).compile()
}

private final class DenseCompiler(subscriptions: Array[Int], conditions: Conditions) {
  import conditions.{forest, tests}

  private val code = new IntBuffer
  private val places = scala.collection.mutable.LinkedHashMap.empty[Int, Int]

  // Per node: the number under which it is kept aside, or -1.
  private val saved: Array[Int] = {
    val uses = new Array[Int](forest.size)
    subscriptions.foreach(s => uses(forest.roots(s)) = 1)
    (forest.size - 1 to 0 by -1).foreach(n => if (uses(n) > 0) forest.children(n).foreach(uses(_) += 1))
    var count = 0
    Array.tabulate(forest.size) { n =>
      if (uses(n) > 1 && forest.kinds(n) != Forest.Leaf) { count += 1; count - 1 } else -1
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
    val cuts = Array.fill(places.size)(scala.collection.mutable.HashSet.empty[Int])
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
    case Forest.Leaf => test(conditions.leafTests(node), DenseOp.Set)
    case kind =>
      val children = forest.children(node).sortBy { child =>
        (forest.kinds(child) != Forest.Leaf && saved(child) < 0, if (kind == Forest.And) conditions.chances(child) else 0.0)
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
    forest.kinds(node) == Forest.Leaf && (parent == Forest.Or || tests.isInterval(conditions.leafTests(node)))

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

/** Evaluates the dense part of a program: what changes from one chunk of rows to the next, one for each task. */
final class DenseMatcher(dense: Dense, matcher: Matcher) {
  import Dense.{Rows, Words}
  import dense._

  // Per slot: the codes of the rows; how many different ones lie below a cut; and the rows of the lowest k of them.
  private val codes = Array.fill(slots.length)(new Array[Int](Rows))
  private val ranks = cuts.map(own => new Array[Byte](own.length))
  private val below = Array.fill(slots.length)(new Array[Long]((Rows + 1) * Words))
  private val sorted = new Array[Long](Rows)

  private var stack = new Array[Long](16 * Words)
  private val kept = new Array[Long](saved * Words)
  private val columns = new Array[Long](64 * Words)
  private val groups = (subscriptions.length + 63) >> 6
  // Per row: a bit for each subscription. First eight words of each row, then the next eight: lines of the cache.
  private val matches = new Array[Long](64 * Words * ((groups + 7) & ~7))

  /** Evaluates all subscriptions for `count` rows. */
  def evaluate(count: Int, row: Int => InternalRow): Unit = {
    var i = 0
    while (i < count) {
      matcher.look(row(i))
      var s = 0
      while (s < slots.length) { codes(s)(i) = matcher.code(slots(s)); s += 1 }
      i += 1
    }
    slots.indices.foreach(rank(_, count))
    execute()
  }

  private def rank(s: Int, count: Int): Unit = {
    var i = 0
    while (i < count) { sorted(i) = (codes(s)(i).toLong << 32) | i; i += 1 }
    Arrays.sort(sorted, 0, count)
    val (rowsBelow, rank, own) = (below(s), ranks(s), cuts(s))
    var (k, filled) = (0, 0)
    i = 0
    while (i < count) {
      // The cuts up to this code have k different codes below them.
      val code = (sorted(i) >> 32).toInt
      val found = Arrays.binarySearch(own, filled, own.length, code + 1)
      val next = if (found >= 0) found else -found - 1
      Arrays.fill(rank, filled, next, k.toByte)
      filled = next
      System.arraycopy(rowsBelow, k * Words, rowsBelow, (k + 1) * Words, Words)
      k += 1
      while (i < count && (sorted(i) >> 32).toInt == code) {
        val r = sorted(i).toInt
        rowsBelow(k * Words + (r >> 6)) |= 1L << r
        i += 1
      }
    }
    Arrays.fill(rank, filled, rank.length, k.toByte)
  }

  private def execute(): Unit = {
    val code = dense.code
    val columns = this.columns
    var stack = this.stack
    var pc = 0
    var top = -Words
    var done = 0
    while (pc < code.length) {
      val word = code(pc)
      val op = word & DenseOp.Mask
      if (op <= DenseOp.OrTest) {
        val s = word >>> DenseOp.Bits
        val rank = ranks(s)
        val rows = below(s)
        val from = (rank(code(pc + 1)) & 0xff) * Words
        val to = (rank(code(pc + 2)) & 0xff) * Words
        if (op == DenseOp.Set) {
          top += Words
          if (top == stack.length) {
            stack = Arrays.copyOf(stack, 2 * stack.length)
            this.stack = stack
          }
          var w = 0
          while (w < Words) { stack(top + w) = rows(to + w) & ~rows(from + w); w += 1 }
        } else if (op == DenseOp.AndTest) {
          var w = 0
          while (w < Words) { stack(top + w) &= rows(to + w) & ~rows(from + w); w += 1 }
        } else {
          var w = 0
          while (w < Words) { stack(top + w) |= rows(to + w) & ~rows(from + w); w += 1 }
        }
        pc += 3
      } else if (op >= DenseOp.Save) {
        val place = (word >>> DenseOp.Bits) * Words
        if (op == DenseOp.Save) {
          System.arraycopy(stack, top, kept, place, Words)
          top -= Words
        } else if (op == DenseOp.SetSaved) {
          top += Words
          if (top == stack.length) {
            stack = Arrays.copyOf(stack, 2 * stack.length)
            this.stack = stack
          }
          System.arraycopy(kept, place, stack, top, Words)
        } else if (op == DenseOp.AndSaved) {
          var w = 0
          while (w < Words) { stack(top + w) &= kept(place + w); w += 1 }
        } else {
          var w = 0
          while (w < Words) { stack(top + w) |= kept(place + w); w += 1 }
        }
        pc += 1
      } else if (op == DenseOp.And) {
        var w = 0
        while (w < Words) { stack(top - Words + w) &= stack(top + w); w += 1 }
        top -= Words
        pc += 1
      } else if (op == DenseOp.Or) {
        var w = 0
        while (w < Words) { stack(top - Words + w) |= stack(top + w); w += 1 }
        top -= Words
        pc += 1
      } else if (op == DenseOp.IfEmpty) {
        var any = 0L
        var w = 0
        while (w < Words) { any |= stack(top + w); w += 1 }
        pc = if (any == 0) code(pc + 1) else pc + 2
      } else {
        var n = code(pc + 1)
        while (n > 0) {
          var w = 0
          while (w < Words) { columns(64 * w + (done & 63)) = stack(top + w); w += 1 }
          done += 1
          if ((done & 63) == 0) turn((done >> 6) - 1)
          n -= 1
        }
        top -= Words
        pc += 2
      }
    }
    if ((done & 63) != 0) {
      var w = 0
      while (w < Words) { Arrays.fill(columns, 64 * w + (done & 63), 64 * w + 64, 0L); w += 1 }
      turn(done >> 6)
    }
  }

  /** Turns 64 subscriptions with a bit per row into rows with a bit per subscription. */
  private def turn(group: Int): Unit = {
    var w = 0
    while (w < Words) {
      DenseMatcher.transpose(columns, 64 * w)
      var r = 0
      while (r < 64) { matches(wordOf(64 * w + r, group)) = columns(64 * w + r); r += 1 }
      w += 1
    }
  }

  private def wordOf(row: Int, group: Int): Int = ((group >> 3) * 64 * Words + row) * 8 + (group & 7)

  /** Writes the subscriptions that match the i-th row to `found` from `start` on; gives the end. */
  def collect(i: Int, found: Array[Int], start: Int): Int = {
    var next = start
    var group = 0
    while (group < groups) {
      var bits = matches(wordOf(i, group))
      while (bits != 0) {
        found(next) = subscriptions((group << 6) + java.lang.Long.numberOfTrailingZeros(bits))
        next += 1
        bits &= bits - 1
      }
      group += 1
    }
    next
  }
}

object DenseMatcher {

  /** Transposes a square of 64 by 64 bits: halves are exchanged, then halves of these, and so on. */
  def transpose(bits: Array[Long], start: Int): Unit = {
    var width = 32
    var mask = 0x00000000ffffffffL
    while (width > 0) {
      var i = 0
      while (i < 64) {
        val (low, high) = (bits(start + i), bits(start + i + width))
        val moved = ((low >>> width) ^ high) & mask
        bits(start + i + width) = high ^ moved
        bits(start + i) = low ^ (moved << width)
        i = (i + width + 1) & ~width
      }
      width >>= 1
      mask ^= mask << width
    }
  }
}
