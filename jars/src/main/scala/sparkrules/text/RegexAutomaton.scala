package sparkrules.text

import java.util.Arrays

import scala.collection.mutable

import org.apache.spark.unsafe.Platform
import org.apache.spark.unsafe.types.UTF8String

import sparkrules.value.Meter

/**
 * Searches strings in linear time, whatever the regular expression: a state here is a set of states of its program, and
 * is made when a string first leads to it. One for each task.
 *
 * @param isWhole whether the whole string has to match
 */
final class RegexAutomaton(program: RegexProgram, isWhole: Boolean) {
  import RegexAutomaton._
  import program._

  private val asksForPlaces = places.nonEmpty
  private val asksForLastLine = places.contains(Where.LastLineEnd)
  private val asksForWords = places.exists(place => place == Where.WordBoundary || place == Where.NoWordBoundary)

  // Characters that are in the same sets, and are the same to places, are of one class. In the table class + 1, or 0.
  private val pages = new Array[Array[Short]](256)
  private val classes = mutable.HashMap.empty[Seq[Int], Int]
  private val classSets = mutable.ArrayBuffer.empty[Array[Boolean]]
  private val classKinds = mutable.ArrayBuffer.empty[Int]

  // Per state: its program's states, in order, and the kind of the character before. Per state and class, with a second
  // row of classes where the last line ends: the next state, or 0 if that is not known yet.
  private val states = mutable.HashMap.empty[StateKey, Int]
  private val members = mutable.ArrayBuffer.empty[StateKey]
  private var width = 16
  private var transitions = new Array[Int](0)
  private var cells = 0L

  private val stamps = new Array[Int](program.size)
  private var stamp = 0
  private val stack = new Array[Int](2 * program.size + 2)

  // The states that are collected since begin().
  private var found = new Array[Int](16)
  private var count = 0

  // What is reached before anything is read. A search starts at every place, so all states would have it: of an
  // alternation of thousands of words, each of them.
  private val atStart: Array[Boolean] = {
    begin()
    add(start)
    stamps.map(_ == stamp)
  }
  private val isImplied = !isWhole && !asksForPlaces && !atStart(RegexProgram.Accepting)
  // Per class: what is reached from there by a character of it.
  private val begunByClass = mutable.HashMap.empty[Int, Array[Int]]

  /**
   * Whether the string matches; None if this automaton cannot decide it: it reads characters of 16 bits, and what a
   * word is outside ASCII depends on the version of Java.
   *
   * @param meter counts every step
   */
  def find(text: UTF8String, meter: Meter): Option[Boolean] =
    if (isAscii(text)) Some(new Run(new Bytes(text), meter).result())
    else if (asksForWords) None
    else {
      val decoded = text.toString
      if (hasSurrogates(decoded)) None else Some(new Run(new Chars(decoded), meter).result())
    }

  private final class Run(text: Text, meter: Meter) {
    private val length = text.length
    private val lastLine = if (asksForLastLine) lastLineEnd(text) else -1
    private var state = initial()

    def result(): Boolean = {
      meter.spend(length.toLong)
      if (lastLine >= 0) {
        read(0, lastLine)
        if (lastLine < length) {
          if (state > 0) state = next(state, classOf(text(lastLine)), isLastLine = true)
          read(lastLine + 1, length)
        }
      } else read(0, length)
      if (state > 0) ends(state) else state == Found
    }

    private def read(from: Int, until: Int): Unit = {
      var i = from
      while (i < until && state > 0) {
        val c = text(i)
        val page = pages(c >> 8)
        val known = if (page == null) 0 else page(c & 0xff).toInt
        val row = (state - 1) * 2 * width
        var target = if (known > 0 && known <= width) transitions(row + known - 1) else Unknown
        if (target == Unknown) target = next(state, if (known > 0) known - 1 else classOf(c), isLastLine = false)
        state = target
        i += 1
      }
    }

    private def initial(): Int = {
      begin()
      add(start)
      stateOf(collected(), Edge)
    }

    /** Whether a state is a match at the end of the string. */
    private def ends(state: Int): Boolean = {
      val StateKey(own, before) = members(state - 1)
      begin()
      own.foreach(through(_, before, Edge, isLastLine = true))
      meter.spend(own.length.toLong)
      stamps(RegexProgram.Accepting) == stamp
    }

    private def next(from: Int, c: Int, isLastLine: Boolean): Int = {
      if (c >= width) widen(c)
      val cell = (from - 1) * 2 * width + (if (isLastLine) width else 0) + c
      if (transitions(cell) != Unknown) transitions(cell)
      else {
        val key = members(from - 1)
        val target = step(key, c, isLastLine)
        // All states may have been forgotten meanwhile.
        if (members.length >= from && (members(from - 1) eq key)) transitions(cell) = target
        target
      }
    }

    private def step(from: StateKey, c: Int, isLastLine: Boolean): Int = {
      val StateKey(own, before) = from
      begin()
      if (asksForPlaces) own.foreach(through(_, before, classKinds(c), isLastLine))
      else own.foreach(reach)
      if (!isWhole && stamps(RegexProgram.Accepting) == stamp) Found
      else {
        val reached = collectedAll()
        val begun = if (isImplied) begunBy(c) else Array.emptyIntArray
        begin()
        begun.foreach(reach)
        var i = 0
        while (i < reached.length) {
          val s = reached(i)
          if (operations(s) == RegexProgram.Read && classSets(c)(operands(s))) add(nexts(s))
          i += 1
        }
        if (!isWhole && !isImplied) add(start)
        val target = collected()
        meter.spend(16L * (reached.length + target.length + 1))
        if (target.isEmpty && !isImplied) Lost else stateOf(target, if (asksForPlaces) classKinds(c) else Other)
      }
    }
  }

  private def begin(): Unit = {
    stamp += 1
    count = 0
  }

  private def reach(state: Int): Unit = if (stamps(state) != stamp) {
    stamps(state) = stamp
    if (count == found.length) found = Arrays.copyOf(found, 2 * count)
    found(count) = state
    count += 1
  }

  private def collectedAll(): Array[Int] = Arrays.copyOf(found, count)

  private def collected(): Array[Int] = {
    val all = collectedAll().filter(s => operations(s) != RegexProgram.Both && !(isImplied && atStart(s)))
    Arrays.sort(all)
    all
  }

  /** Adds what is reached from a state without asking for anything. */
  private def add(from: Int): Unit = follow(from, _ => false)

  /** Adds what is reached at a place between characters of these kinds. */
  private def through(from: Int, before: Int, after: Int, isLastLine: Boolean): Unit =
    follow(from, place => holds(places(place), before, after, isLastLine))

  private def follow(from: Int, holds: Int => Boolean): Unit = {
    var top = 0
    stack(0) = from
    while (top >= 0) {
      val s = stack(top)
      top -= 1
      if (stamps(s) != stamp) {
        reach(s)
        operations(s) match {
          case RegexProgram.Both =>
            stack(top + 1) = operands(s)
            stack(top + 2) = nexts(s)
            top += 2
          case RegexProgram.At if holds(operands(s)) =>
            top += 1
            stack(top) = nexts(s)
          case _ =>
        }
      }
    }
  }

  private def begunBy(c: Int): Array[Int] = begunByClass.getOrElse(c, {
    begin()
    atStart.indices.foreach { s =>
      if (atStart(s) && operations(s) == RegexProgram.Read && classSets(c)(operands(s))) add(nexts(s))
    }
    val all = collectedAll()
    if (cells + all.length <= MostCells) {
      begunByClass(c) = all
      cells += all.length
    }
    all
  })

  private def stateOf(own: Array[Int], before: Int): Int = {
    val key = StateKey(own, before)
    states.getOrElse(key, {
      if (cells + own.length + 2 * width > MostCells) forget()
      members += key
      states(key) = members.length
      cells += own.length + 2 * width
      val needed = members.length * 2 * width
      if (transitions.length < needed) {
        transitions = Arrays.copyOf(transitions, math.max(needed, 2 * transitions.length))
      }
      members.length
    })
  }

  private def forget(): Unit = {
    states.clear()
    members.clear()
    begunByClass.clear()
    Arrays.fill(transitions, Unknown)
    cells = 0
  }

  /** Makes room for a class; what is known is forgotten, but not the states. */
  private def widen(c: Int): Unit = {
    while (width <= c) width *= 2
    transitions = new Array[Int](members.length * 2 * width)
    cells = members.iterator.map(_.own.length.toLong + 2 * width).sum +
      begunByClass.valuesIterator.map(_.length.toLong).sum
  }

  private def classOf(c: Char): Int = {
    if (pages(c >> 8) == null) pages(c >> 8) = new Array[Short](256)
    val page = pages(c >> 8)
    if (page(c & 0xff) == 0) {
      val own = sets.map(_.contains(c))
      val kind = if (asksForPlaces) kindOf(c) else Other
      val key = own.indices.filter(own(_)) :+ -kind - 1
      page(c & 0xff) = (classes.getOrElseUpdate(key, {
        classSets += own
        classKinds += kind
        classSets.length - 1
      }) + 1).toShort
    }
    page(c & 0xff) - 1
  }
}

object RegexAutomaton {
  // Of a state's transitions.
  private final val Unknown = 0
  private final val Lost = -1
  private final val Found = -2

  // Half a megabyte in each task; then what is known is forgotten.
  private val MostCells = 1L << 17

  // What characters are to places.
  private final val Other = 0
  private final val Word = 1
  private final val LineFeed = 2
  private final val Return = 3
  private final val Separator = 4
  private final val Edge = 5

  private def kindOf(c: Char): Int = c match {
    case '\n' => LineFeed
    case '\r' => Return
    case '\u0085' | '\u2028' | '\u2029' => Separator
    case _ => if (c < 128 && (Character.isLetterOrDigit(c) || c == '_')) Word else Other
  }

  private def isTerminator(kind: Int): Boolean = kind == LineFeed || kind == Return || kind == Separator

  private def holds(place: Where, before: Int, after: Int, isLastLine: Boolean): Boolean = place match {
    case Where.TextStart => before == Edge
    case Where.TextEnd => after == Edge
    case Where.LastLineEnd => isLastLine
    case Where.LineStart =>
      after != Edge && (before == Edge || isTerminator(before)) && !(before == Return && after == LineFeed)
    case Where.LineEnd => after == Edge || isTerminator(after) && !(before == Return && after == LineFeed)
    case Where.WordBoundary => (before == Word) != (after == Word)
    case Where.NoWordBoundary => (before == Word) == (after == Word)
  }

  /** Where the last line ends, before its terminator if it has one. */
  private def lastLineEnd(text: Text): Int = {
    val n = text.length
    if (n == 0) 0
    else kindOf(text(n - 1)) match {
      case LineFeed => if (n > 1 && text(n - 2) == '\r') n - 2 else n - 1
      case Return | Separator => n - 1
      case _ => n
    }
  }

  private final case class StateKey(own: Array[Int], before: Int) {
    override def hashCode: Int = 31 * Arrays.hashCode(own) + before
    override def equals(other: Any): Boolean = other match {
      case StateKey(others, kind) => kind == before && Arrays.equals(own, others)
      case _ => false
    }
  }

  private sealed abstract class Text {
    def length: Int
    def apply(i: Int): Char
  }

  private final class Bytes(text: UTF8String) extends Text {
    private val (base, offset) = (text.getBaseObject, text.getBaseOffset)
    val length: Int = text.numBytes
    def apply(i: Int): Char = Platform.getByte(base, offset + i).toChar
  }

  private final class Chars(text: String) extends Text {
    val length: Int = text.length
    def apply(i: Int): Char = text.charAt(i)
  }

  private def isAscii(text: UTF8String): Boolean = {
    val (base, offset, length) = (text.getBaseObject, text.getBaseOffset, text.numBytes)
    var i = 0
    while (i + 8 <= length && (Platform.getLong(base, offset + i) & 0x8080808080808080L) == 0) i += 8
    while (i < length && Platform.getByte(base, offset + i) >= 0) i += 1
    i == length
  }

  private def hasSurrogates(text: String): Boolean = text.exists(Character.isSurrogate)
}
