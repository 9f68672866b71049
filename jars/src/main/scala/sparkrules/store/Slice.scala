package sparkrules.store

import java.util.Arrays

import org.apache.spark.sql.catalyst.util.GenericArrayData
import org.apache.spark.unsafe.types.UTF8String

import sparkrules.value.IntLists

/** Which rows are not NULL: a bit for each, that of row 0 at `first`. */
final class Presence(bits: Array[Byte], first: Int) {
  def apply(row: Int): Boolean = bits == null || (bits((first + row) >> 3) >> ((first + row) & 7) & 1) == 1
}

object Presence {
  val All = new Presence(null, 0)
}

/** Some rows of a column. */
sealed abstract class Slice(present: Presence) {
  final def isNull(row: Int): Boolean = !present(row)

  /** The value in Spark's internal representation. */
  final def value(row: Int): Any = if (isNull(row)) null else some(row)
  protected def some(row: Int): Any

  final def hasNulls: Boolean = (present ne Presence.All) && (0 until length).exists(isNull)

  def length: Int
  def ints: Array[Int] = throw new IllegalArgumentException("they are not numbers")
  def text(row: Int): UTF8String = throw new IllegalArgumentException("they are not texts")
  def list(row: Int): Array[Int] = throw new IllegalArgumentException("they are not lists")
}

/** A column that the file lacks. */
final class Missing(override val length: Int) extends Slice(new Presence(new Array[Byte]((length + 7) / 8), 0)) {
  override protected def some(row: Int): Any = null
}

final class Ints(present: Presence, override val ints: Array[Int]) extends Slice(present) {
  override def length: Int = ints.length
  override protected def some(row: Int): Any = ints(row)
}

final class Truths(present: Presence, isTrue: Presence, override val length: Int) extends Slice(present) {
  override protected def some(row: Int): Any = isTrue(row)
}

final class Longs(present: Presence, val values: Array[Long]) extends Slice(present) {
  override def length: Int = values.length
  override protected def some(row: Int): Any = values(row)
}

/** Strings that point into the bytes that were read. */
final class Texts(present: Presence, private val offsets: Array[Int], private val bytes: Array[Byte])
    extends Slice(present) {
  override def length: Int = offsets.length - 1
  def isLikeBefore(row: Int): Boolean = row > 0 && isNull(row) == isNull(row - 1) &&
    Arrays.equals(bytes, offsets(row - 1), offsets(row), bytes, offsets(row), offsets(row + 1))
  override def text(row: Int): UTF8String = UTF8String.fromBytes(bytes, offsets(row), offsets(row + 1) - offsets(row))
  override protected def some(row: Int): Any = text(row)
}

object Texts {

  /** All strings of some slices, none of them NULL. */
  def concat(parts: Seq[Texts]): Texts = parts match {
    case Seq(one) => one
    case _ =>
      val shifts = parts.scanLeft(0)((sum, part) => Math.addExact(sum, part.bytes.length))
      val starts = parts.zip(shifts).flatMap { case (part, shift) => part.offsets.init.map(_ + shift) }
      new Texts(Presence.All, (starts :+ shifts.last).toArray, Array.concat(parts.map(_.bytes): _*))
  }
}

/** Lists of strings, whose items are NULL only in a damaged file. */
final class TextLists(present: Presence, offsets: Array[Int], items: Texts) extends Slice(present) {
  override def length: Int = offsets.length - 1
  def texts(row: Int): Array[UTF8String] = Array.range(offsets(row), offsets(row + 1)).map { item =>
    if (items.isNull(item)) throw new IllegalArgumentException("a list has a NULL")
    items.text(item)
  }
  override protected def some(row: Int): Any = new GenericArrayData(texts(row).asInstanceOf[Array[Any]])
}

final class Lists(present: Presence, offsets: Array[Int], values: Array[Int]) extends Slice(present) {
  override def length: Int = offsets.length - 1
  def lists: IntLists = new IntLists(offsets, values)
  override def list(row: Int): Array[Int] = java.util.Arrays.copyOfRange(values, offsets(row), offsets(row + 1))
  override protected def some(row: Int): Any = list(row)
}
