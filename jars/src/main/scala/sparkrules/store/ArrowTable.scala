package sparkrules.store

import scala.reflect.ClassTag

import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

import sparkrules.value.IntLists

/** The columns of an Arrow file as arrays, each read when it is asked for. Only strings and instants can be NULL. */
final class ArrowTable(file: ArrowFile) {
  def has(name: String): Boolean = file.has(name)

  def ints(name: String): Array[Int] = Array.concat(present[Ints](name, IntegerType).map(_.ints): _*)

  def lists(name: String): IntLists = present[Lists](name, ArrayType(IntegerType)).map(_.lists) match {
    case Seq(one) => one
    case several => IntLists.concat(several)
  }

  /** A string that equals the one before is the same object. */
  def strings(name: String): Array[String] = texts(name, _.toString)

  /** The strings, without a copy: they point into the bytes that were read. */
  def utf8Strings(name: String): Array[UTF8String] = texts(name, identity)

  /** Lists of strings, null for NULL. */
  def textLists(name: String): Array[Array[UTF8String]] =
    Array.concat(slices[TextLists](name, ArrayType(StringType)).map { slice =>
      Array.tabulate(slice.length)(i => if (slice.isNull(i)) null else slice.texts(i))
    }: _*)

  /** Microseconds since 1970, or [[ArrowTable.NoInstant]] for NULL. */
  def instants(name: String): Array[Long] = Array.concat(slices[Longs](name, TimestampType).map { slice =>
    val all = new Array[Long](slice.length)
    all.indices.foreach(i => all(i) = if (slice.isNull(i)) ArrowTable.NoInstant else slice.values(i))
    all
  }: _*)

  private def texts[T >: Null <: AnyRef: ClassTag](name: String, made: UTF8String => T): Array[T] =
    Array.concat(slices[Texts](name, StringType).map { slice =>
      val all = new Array[T](slice.length)
      all.indices.foreach { i =>
        if (slice.isLikeBefore(i)) all(i) = all(i - 1) else if (!slice.isNull(i)) all(i) = made(slice.text(i))
      }
      all
    }: _*)

  private def present[T <: Slice: ClassTag](name: String, dataType: DataType): Seq[T] = {
    val found = slices[T](name, dataType)
    if (found.exists(_.hasNulls)) throw new IllegalArgumentException(s"the column '$name' has a NULL")
    found
  }

  private def slices[T <: Slice: ClassTag](name: String, dataType: DataType): Seq[T] =
    file.slices(StoredColumn(name, dataType)).collect { case slice: T => slice }
}

object ArrowTable {
  val NoInstant: Long = Long.MinValue
}
