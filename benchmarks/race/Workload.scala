package race

import java.nio.{ByteBuffer, IntBuffer}
import java.nio.file.{Files, Path}

/**
 * Subscriptions and events, as `benchmarks/race/workload_file.py` writes them.
 *
 * Predicates are numbered. A subscription is its expression in postfix notation: the number of a predicate, or one of
 * the operators below.
 */
final class Workload(
    val attribute: Array[Int], val isEquality: Array[Boolean], val constant: Array[Int],
    start: Array[Int], code: Array[Int],
    val events: Array[Array[Int]]) {
  val predicates: Int = attribute.length
  val size: Int = start.length - 1

  /** The expression of a subscription: its first place in `token`, and the place after its last. */
  def first(subscription: Int): Int = start(subscription)
  def end(subscription: Int): Int = start(subscription + 1)
  def token(at: Int): Int = code(at)

  def isConjunctive: Boolean = code.forall(_ >= Workload.And)
  def hasXor: Boolean = code.contains(Workload.Xor)
  def onlyEquality: Boolean = isEquality.forall(identity)

  def isTrue(predicate: Int, event: Array[Int]): Boolean = {
    val value = event(attribute(predicate))
    if (isEquality(predicate)) value == constant(predicate) else value > constant(predicate)
  }

  def bytes: Long = 9L * predicates + 4L * (start.length + code.length)
}

object Workload {
  val And: Int = -1
  val Or: Int = -2
  val Xor: Int = -3

  def read(file: Path): Workload = {
    val ints: IntBuffer = ByteBuffer.wrap(Files.readAllBytes(file)).asIntBuffer()
    def array(): Array[Int] = {
      val found = new Array[Int](ints.get())
      ints.get(found)
      found
    }
    val (attribute, comparison, constant, start, code) = (array(), array(), array(), array(), array())
    val events = Array.fill(ints.get())(array())
    new Workload(attribute, comparison.map(_ == 0), constant, start, code, events)
  }
}
