package sparkrules.compile

import scala.collection.mutable

import sparkrules.program.Op
import sparkrules.value.IntBuffer

/** Writes code. Jumps forward have holes for their targets, which are patched when these are known. */
private final class CodeWriter {
  val words = new IntBuffer

  // What the code refers to by number.
  private val setNumbers = mutable.LinkedHashMap.empty[Int, Int]
  private val nodeNumbers = mutable.LinkedHashMap.empty[Int, Int]

  /** The predicates that are sets of intervals, by their numbers in the code. */
  def sets: Seq[Int] = setNumbers.keys.toSeq

  /** The nodes that the code asks for as a whole, by their numbers in the code. */
  def sharedNodes: Seq[Int] = nodeNumbers.keys.toSeq

  def put(op: Int, slot: Int = 0): Unit = words += op | (slot << Op.Bits)

  def putSet(op: Int, slot: Int, predicate: Int): Unit = {
    put(op, slot)
    words += setNumbers.getOrElseUpdate(predicate, setNumbers.size)
  }

  def putNode(op: Int, node: Int): Unit = put(op, nodeNumbers.getOrElseUpdate(node, nodeNumbers.size))

  /** A jump to a hole. */
  def jump(): Int = { put(Op.Jump); hole() }

  def hole(): Int = { words += 0; words.length - 1 }

  /** Makes these holes jump to what is written next. */
  def patch(holes: Iterable[Int]): Unit = holes.foreach(words(_) = words.length)
}
