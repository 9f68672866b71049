package sparkrules.kernel

import java.util.Arrays

import org.apache.spark.sql.catalyst.InternalRow

import sparkrules.program.{Dense, DenseOp}

/** Evaluates the dense part of a program: what changes from one chunk of rows to the next, one for each task. */
private[kernel] final class DenseRunner(dense: Dense, slotCodes: SlotCodes) {
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
  private val groups = (rules.length + 63) >> 6
  // Per row: a bit for each rule. First eight words of each row, then the next eight: lines of the cache.
  private val matches = new Array[Long](64 * Words * ((groups + 7) & ~7))

  /** How many rules a row can match at most. */
  def most: Int = rules.length

  /** Evaluates all rules for `count` rows. */
  def evaluate(count: Int, row: Int => InternalRow): Unit = {
    var i = 0
    while (i < count) {
      slotCodes.startRow(row(i))
      var s = 0
      while (s < slots.length) { codes(s)(i) = slotCodes.of(slots(s)); s += 1 }
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
      if (op <= DenseOp.OrPredicate) {
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
        } else if (op == DenseOp.AndPredicate) {
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

  /** Turns 64 rules with a bit per row into rows with a bit per rule. */
  private def turn(group: Int): Unit = {
    var w = 0
    while (w < Words) {
      DenseRunner.transpose(columns, 64 * w)
      var r = 0
      while (r < 64) { matches(wordOf(64 * w + r, group)) = columns(64 * w + r); r += 1 }
      w += 1
    }
  }

  private def wordOf(row: Int, group: Int): Int = ((group >> 3) * 64 * Words + row) * 8 + (group & 7)

  /** Writes the rules that match the i-th row to `found` from `start` on; returns the end. */
  def collect(i: Int, found: Array[Int], start: Int): Int = {
    var next = start
    var group = 0
    while (group < groups) {
      var bits = matches(wordOf(i, group))
      while (bits != 0) {
        found(next) = rules((group << 6) + java.lang.Long.numberOfTrailingZeros(bits))
        next += 1
        bits &= bits - 1
      }
      group += 1
    }
    next
  }
}

object DenseRunner {

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
