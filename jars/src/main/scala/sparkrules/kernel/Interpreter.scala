package sparkrules.kernel

import java.util.Arrays

import sparkrules.program.{Instructions, Op}
import sparkrules.value.{Codes, Keys}

/** Runs the code of a program for the row whose codes are given, and adds the rules that match to `found`. */
private[kernel] final class Interpreter(code: Instructions, codes: SlotCodes, found: FoundRules) {
  private val truth = codes.truthOf(code.shared)
  private val roots = code.shared.roots
  private val sets = code.sets
  private var returns = new Array[Int](16)
  private val scanTargets = new ScanTargets(code.words)

  /** Predicates that were tested, and those of them that were true, so that what depends on them was looks at. */
  var tested = 0L
  var passed = 0L

  /** One method over local arrays: the JVM compiles it as a whole. */
  private[kernel] def execute(start: Int): Unit = {
    val words = code.words
    val codes = this.codes
    val found = this.found
    var pc = start
    var depth = 0
    var (looks, hits) = (0, 0)
    while (pc >= 0) {
      val word = words(pc)
      val slot = word >>> Op.Bits
      (word & Op.Mask) match {
        case Op.Return =>
          depth -= 1
          pc = if (depth < 0) -1 else returns(depth)
        case Op.Jump => pc = words(pc + 1)
        case Op.Call =>
          depth = push(depth, pc + 2)
          pc = words(pc + 1)
        case Op.EqualElse =>
          looks += 1
          if (codes.of(slot) == words(pc + 1)) { hits += 1; pc += 3 } else pc = words(pc + 2)
        case Op.UpToElse =>
          looks += 1
          val value = codes.of(slot)
          if (value >= 1 && value <= words(pc + 1)) { hits += 1; pc += 3 } else pc = words(pc + 2)
        case Op.FromElse =>
          looks += 1
          if (codes.of(slot) >= words(pc + 1)) { hits += 1; pc += 3 } else pc = words(pc + 2)
        case Op.InElse =>
          looks += 1
          val value = codes.of(slot)
          if (value >= words(pc + 1) && value <= words(pc + 2)) { hits += 1; pc += 4 } else pc = words(pc + 3)
        case Op.SetElse =>
          looks += 1
          if (isIn(codes.of(slot), words(pc + 1))) { hits += 1; pc += 3 } else pc = words(pc + 2)
        case Op.NodeElse =>
          looks += 1
          if (truth.of(roots(slot))) { hits += 1; pc += 2 } else pc = words(pc + 1)
        case Op.EqualThen =>
          looks += 1
          pc = if (codes.of(slot) == words(pc + 1)) words(pc + 2) else pc + 3
        case Op.InThen =>
          looks += 1
          val value = codes.of(slot)
          pc = if (value >= words(pc + 1) && value <= words(pc + 2)) words(pc + 3) else pc + 4
        case Op.SetThen =>
          looks += 1
          pc = if (isIn(codes.of(slot), words(pc + 1))) words(pc + 2) else pc + 3
        case Op.NodeThen =>
          looks += 1
          pc = if (truth.of(roots(slot))) words(pc + 1) else pc + 2
        case Op.EqualEmit =>
          looks += 1
          hits += found.addIf(codes.of(slot) == words(pc + 1), words(pc + 2))
          pc += 3
        case Op.UpToEmit =>
          looks += 1
          val value = codes.of(slot)
          hits += found.addIf(value >= 1 && value <= words(pc + 1), words(pc + 2))
          pc += 3
        case Op.FromEmit =>
          looks += 1
          hits += found.addIf(codes.of(slot) >= words(pc + 1), words(pc + 2))
          pc += 3
        case Op.InEmit =>
          looks += 1
          val value = codes.of(slot)
          hits += found.addIf(value >= words(pc + 1) && value <= words(pc + 2), words(pc + 3))
          pc += 4
        case Op.Emit =>
          val n = words(pc + 1)
          found.addAll(words, pc + 2, n)
          pc += 2 + n
        case Op.EmitOnce =>
          val n = words(pc + 1)
          found.addOnce(words, pc + 2, n)
          pc += 2 + n
        case Op.UpTo =>
          looks += 1
          val n = words(pc + 1)
          found.addAll(words, pc + 2 + n, upTo(words, codes.of(slot), pc + 2, n))
          pc += 2 + 2 * n
        case Op.UpToOnce =>
          looks += 1
          val n = words(pc + 1)
          found.addOnce(words, pc + 2 + n, upTo(words, codes.of(slot), pc + 2, n))
          pc += 2 + 2 * n
        case Op.From =>
          looks += 1
          val n = words(pc + 1)
          found.addAll(words, pc + 2 + n, from(words, codes.of(slot), pc + 2, n))
          pc += 2 + 2 * n
        case Op.FromOnce =>
          looks += 1
          val n = words(pc + 1)
          found.addOnce(words, pc + 2 + n, from(words, codes.of(slot), pc + 2, n))
          pc += 2 + 2 * n
        case Op.Switch =>
          looks += 1
          val place = (codes.of(slot) >> words(pc + 1)) - words(pc + 2)
          if (place >= 0 && place < words(pc + 3)) { hits += 1; pc = words(pc + 5 + place) } else pc = words(pc + 4)
        case Op.Search =>
          looks += 1
          val n = words(pc + 2)
          val wanted = codes.of(slot) >> words(pc + 1)
          val place = lastUpTo(words, wanted, pc + 4, n)
          if (words(place) == wanted) { hits += 1; pc = words(place + n) } else pc = words(pc + 3)
        case Op.Scan =>
          looks += 1
          depth = pushHits(slot, pc + 2, words(pc + 1), depth) - 1
          pc = returns(depth)
      }
    }
    tested += looks
    passed += hits
  }

  private def push(depth: Int, target: Int): Int = {
    if (depth == returns.length) returns = Arrays.copyOf(returns, 2 * depth)
    returns(depth) = target
    depth + 1
  }

  /** Pushes the place after a scan, then the targets of all slots that the scan finds true. */
  private def pushHits(scan: Int, place: Int, n: Int, depth: Int): Int = {
    var next = push(depth, place + 2 * n)
    val scanner = codes.scanned(scan)
    if (scanner != null && scanner.decidedCount + scanner.openCount > 0) {
      val targets = scanTargets.at(scan, place, n)
      var i = 0
      while (i < scanner.decidedCount) {
        val target = targets.of(scanner.decided(i))
        if (target >= 0) next = push(next, target)
        i += 1
      }
      i = 0
      while (i < scanner.openCount) {
        val target = targets.of(scanner.open(i))
        if (target >= 0 && codes.of(scanner.open(i)) == Keys.TrueCode) next = push(next, target)
        i += 1
      }
    }
    next
  }

  private def isIn(value: Int, set: Int): Boolean = Codes.contains(sets.values, sets.start(set), sets.end(set), value)

  /** How many of the `n` descending bounds at `place` are not below the code of a value. */
  private def upTo(words: Array[Int], value: Int, place: Int, n: Int): Int =
    if (value < 1) 0
    else {
      var (low, high) = (0, n)
      while (low < high) {
        val middle = (low + high) >>> 1
        if (words(place + middle) >= value) low = middle + 1 else high = middle
      }
      low
    }

  /** How many of the `n` ascending bounds at `place` are not above the code of a value. */
  private def from(words: Array[Int], value: Int, place: Int, n: Int): Int = {
    var (low, high) = (0, n)
    while (low < high) {
      val middle = (low + high) >>> 1
      if (words(place + middle) <= value) low = middle + 1 else high = middle
    }
    low
  }

  /** The place of the last of `n` ascending values, at least one, that is not above `wanted`; or the first. */
  private def lastUpTo(words: Array[Int], wanted: Int, place: Int, n: Int): Int = {
    var base = place
    var rest = n
    while (rest > 1) { // written so that the JVM's compiler makes conditional moves
      val half = rest >>> 1
      base = if (words(base + half) <= wanted) base + half else base
      rest -= half
    }
    base
  }
}
