package sparkrules.scan

import java.util.Arrays

import scala.collection.mutable.ArrayBuffer

import sparkrules.value.{Codes, IntBuffer, IntLists}

/**
 * What rules, or alternatives of them, need of columns. A box is some sets of codes, each of another column; a row that
 * matches has a code of each. There are far fewer sets than boxes: `signed = true` is one set, however many rules need
 * it. So whatever can be found out per set is.
 *
 * @param columns per set: its column
 * @param codes per set: its codes
 * @param sets per box: its sets
 */
private final class Boxes(val columns: Array[Int], val codes: Array[Array[Int]], val sets: IntLists) {
  def size: Int = sets.size

  /** Per set: the boxes that need it. */
  lazy val users: IntLists = {
    val boxes = new Array[Int](sets.values.length)
    var box = 0
    while (box < size) { Arrays.fill(boxes, sets.start(box), sets.end(box), box); box += 1 }
    IntLists.group(columns.length, sets.values, boxes)
  }

  /** Some of the boxes. */
  def only(boxes: Array[Int]): Boxes =
    if (boxes.length == size) this else new Boxes(columns, codes, IntLists(boxes.map(sets(_))))

  /** The set of a column that a box needs; -1 if it needs nothing of it. */
  def setOf(box: Int, column: Int): Int = {
    var i = sets.start(box)
    val end = sets.end(box)
    while (i < end && columns(sets.values(i)) != column) i += 1
    if (i < end) sets.values(i) else -1
  }

  /** The sets of a column that boxes need. */
  def setsOf(column: Int): Array[Int] = {
    val (found, isFound) = (new IntBuffer, new Array[Boolean](columns.length))
    var i = 0
    while (i < sets.values.length) {
      val set = sets.values(i)
      if (columns(set) == column && !isFound(set)) { isFound(set) = true; found += set }
      i += 1
    }
    found.toArray
  }
}

/** Boxes that are added one by one. */
private final class BoxesBuilder(all: IndexedSeq[ScanColumn]) {
  private val columns = new IntBuffer
  private val codes = ArrayBuffer.empty[Array[Int]]
  private val isUsable = ArrayBuffer.empty[Boolean]
  private val ends = new IntBuffer
  private val sets = new IntBuffer
  ends += 0

  // Per column: the set that the box needs which is being added, or -1.
  private val needed = Array.fill(all.length)(-1)

  def addSet(column: Int, own: Array[Int]): Int = {
    columns += column
    codes += own
    isUsable += all(column).canFilter(own)
    codes.length - 1
  }

  /** Adds a box: what these sets need together. Gives whether a source can filter by any of it. */
  def addBox(own: Array[Int]): Boolean = {
    own.foreach { set =>
      val column = columns(set)
      needed(column) =
        if (needed(column) < 0) set else addSet(column, Codes.intersection(codes(needed(column)), codes(set)))
    }
    var (isNever, isBounded) = (false, false)
    own.foreach { set =>
      val joined = needed(columns(set))
      if (joined >= 0 && isUsable(joined)) {
        isNever |= codes(joined).isEmpty
        isBounded = true
        sets += joined
      }
      needed(columns(set)) = -1
    }
    if (isNever || !isBounded) sets.length = ends(ends.length - 1) else ends += sets.length
    isBounded
  }

  def result: Boxes = new Boxes(columns.toArray, codes.toArray, new IntLists(ends.toArray, sets.toArray))
}
