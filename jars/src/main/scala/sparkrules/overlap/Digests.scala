package sparkrules.overlap

import java.nio.ByteBuffer
import java.nio.charset.StandardCharsets.UTF_8
import java.security.MessageDigest

import sparkrules.program.Forest
import sparkrules.store.Segment

/**
 * The digests of a forest's nodes, to compare subexpressions of different parts: 128 bits that stand for the content of
 * a subexpression, the same in every segment. The digest of a predicate covers its attribute, operator and constants.
 * The digest of a junction covers its operator and its children, in any order.
 *
 * @param bits per node: two numbers
 */
final class Digests(bits: Array[Long]) {
  def size: Int = bits.length / 2
  def high(node: Int): Long = bits(2 * node)
  def low(node: Int): Long = bits(2 * node + 1)
}

object Digests {

  /** Two numbers per predicate of a segment. */
  def ofPredicates(segment: Segment): Array[Long] = {
    val writer = new Writer
    val bits = new Array[Long](2 * segment.forest.predicates.operators.length)
    segment.forest.predicates.operators.indices.foreach { p =>
      writer.string(segment.forest.attributes(segment.forest.predicates.attributes(p)))
      writer.string(segment.forest.predicates.operators(p))
      var i = segment.forest.predicates.constants.start(p)
      while (i < segment.forest.predicates.constants.end(p)) {
        val constant = segment.forest.predicates.constants.values(i)
        writer.string(segment.forest.constants.kinds(constant))
        writer.string(segment.forest.constants.texts(constant))
        i += 1
      }
      writer.finish(bits, p)
    }
    bits
  }

  /** @param predicates per node: its predicate, if it is one; `ofPredicates` as above */
  def of(forest: Forest, predicates: Array[Int], ofPredicates: Array[Long]): Digests = {
    val writer = new Writer
    val bits = new Array[Long](2 * forest.size)
    (0 until forest.size).foreach { node =>
      if (forest.kinds(node) == Forest.Predicate) {
        System.arraycopy(ofPredicates, 2 * predicates(node), bits, 2 * node, 2)
      } else {
        writer.number(forest.kinds(node).toLong)
        forest.children(node).map(child => (bits(2 * child), bits(2 * child + 1))).sorted.foreach { case (high, low) =>
          writer.number(high)
          writer.number(low)
        }
        writer.finish(bits, node)
      }
    }
    new Digests(bits)
  }

  private final class Writer {
    private val sha = MessageDigest.getInstance("SHA-256")
    private val word = ByteBuffer.allocate(8)

    def number(value: Long): Unit = {
      word.putLong(0, value)
      sha.update(word.array)
    }

    /** With its length, so that no two lists of strings are written alike. */
    def string(value: String): Unit = {
      val bytes = value.getBytes(UTF_8)
      number(bytes.length.toLong)
      sha.update(bytes)
    }

    def finish(bits: Array[Long], place: Int): Unit = {
      val digest = ByteBuffer.wrap(sha.digest())
      bits(2 * place) = digest.getLong
      bits(2 * place + 1) = digest.getLong
    }
  }
}
