package sparkrules.value

import java.util.Arrays

import org.apache.spark.sql.catalyst.util.TypeUtils
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

/**
 * The constants that rules compare an attribute with, in Spark's order. They give each value of the attribute a code,
 * so that every comparison is a set of intervals of integers. The code -1 is a value that could not be computed, and -2
 * one that nobody has asked for.
 *
 * {{{
 *   NULL   v < c0   c0   c0 < v < c1   c1   ...   c(k-1)   c(k-1) < v
 *   0      1        2    3             4          2k       2k + 1
 * }}}
 *
 * Python has the same encoding (`codes.py`).
 */
sealed abstract class Keys extends Serializable {
  def size: Int
  final def maxCode: Int = 2 * size + 1

  def dataType: DataType

  /** The code of a value that is not NULL, in Spark's internal representation. */
  def codeOf(value: Any): Int

  /** A key, in Spark's internal representation. */
  def value(index: Int): Any

  /** A key as a string. */
  final def text(index: Int): UTF8String = KeyText.of(value(index), dataType)

  /** The codes that NULL or some value has. A range between two keys can be empty. */
  def realCodes: Array[Int] = Array(Keys.NullCode, maxCode)

  /** The name of the search algorithm. */
  def search: String = "binary"

  /** The same keys, with the fastest look-up for the expected values; see [[LookUp.choose]]. */
  def tuned(shares: Option[Array[Double]], onlyKeys: Boolean): Keys = this

  protected final def found(index: Int): Int = if (index >= 0) 2 * index + 2 else 2 * (-index - 1) + 1
}

object Keys {
  final val NullCode = 0

  /** A value that could not be computed: no predicate is true for it, not even `is null`. */
  final val ErrorCode = -1

  /** A value that depends on a Python function which has not been called for the row: no predicate is true for it. */
  final val OpenCode = -2

  /** Codes of Boolean attributes, which always have both keys. */
  final val FalseCode = 2
  final val TrueCode = 4

  /** Whether there are keys of this type: its order here is exactly Spark's. */
  def existFor(dataType: DataType): Boolean = dataType match {
    case StringType | BinaryType | _: DecimalType => true
    case _ => LongKeys.existFor(dataType)
  }

  /** The keys of `constants`, values of `dataType` that are not NULL. A type without keys has no constants. */
  def of(dataType: DataType, constants: Array[Any]): Keys = dataType match {
    case BooleanType => LongKeys(Array(0L, 1L), dataType)
    case _ if LongKeys.existFor(dataType) =>
      LongKeys(constants.map(LongKeys.toLong(_, dataType)).distinct.sorted, dataType)
    case StringType => new StringKeys(sorted(constants, dataType).map(_.asInstanceOf[UTF8String]), onlyKeys = false)
    case _ if existFor(dataType) => new ObjectKeys(sorted(constants, dataType), dataType)
    case _ => NoKeys
  }

  private def sorted(constants: Array[Any], dataType: DataType): Array[Any] = {
    val order = TypeUtils.getInterpretedOrdering(dataType)
    val all = constants.sorted(order)
    all.indices.collect { case i if i == 0 || order.compare(all(i - 1), all(i)) != 0 => all(i) }.toArray
  }
}

/** Keys of an attribute that is only compared with NULL, or is only the operand of other predicates. */
object NoKeys extends Keys {
  def size: Int = 0
  def dataType: DataType = NullType
  def codeOf(value: Any): Int = 1
  def value(index: Int): Any = throw new NoSuchElementException
  override def search: String = "none"
  private def readResolve(): AnyRef = NoKeys
}

/** Keys of the types whose values can be mapped to 64-bit integers of the same order. */
final class LongKeys private (values: Array[Long], val dataType: DataType, lookUp: LookUp) extends Keys {
  def size: Int = values.length
  def codeOf(value: Any): Int = codeOfLong(LongKeys.toLong(value, dataType))
  def codeOfLong(value: Long): Int = lookUp.code(value)
  def value(index: Int): Any = LongKeys.ofLong(values(index), dataType)
  override def search: String = lookUp.name
  // Once for all tasks of an executor.
  @transient override lazy val realCodes: Array[Int] = {
    val (lowest, highest) = LongKeys.limits(dataType)
    val isDense = dataType == FloatType || dataType == DoubleType
    def isReal(code: Int): Boolean = code % 2 == 0 || {
      val (below, above) = (code / 2 - 1, code / 2)
      if (below < 0 && above == size) true
      else if (below < 0) values(above) > lowest
      else if (above == size) values(below) < highest
      else isDense || values(below) + 1 < values(above)
    }
    Codes.union((0 to maxCode).filter(isReal).map(code => Array(code, code)))
  }
  override def tuned(shares: Option[Array[Double]], onlyKeys: Boolean): Keys =
    new LongKeys(values, dataType, LookUp.choose(values, shares, onlyKeys))
}

object LongKeys {
  def apply(sorted: Array[Long], dataType: DataType): LongKeys = new LongKeys(sorted, dataType, LookUp.binary(sorted))

  def existFor(dataType: DataType): Boolean = dataType match {
    case BooleanType | ByteType | ShortType | IntegerType | LongType | FloatType | DoubleType => true
    case DateType | TimestampType | TimestampNTZType => true
    case _: YearMonthIntervalType | _: DayTimeIntervalType => true
    case d: DecimalType => d.precision <= Decimal.MAX_LONG_DIGITS
    case _ => false
  }

  /** The numbers of the lowest and the highest value. */
  def limits(dataType: DataType): (Long, Long) = dataType match {
    case BooleanType => (0L, 1L)
    case ByteType => (Byte.MinValue.toLong, Byte.MaxValue.toLong)
    case ShortType => (Short.MinValue.toLong, Short.MaxValue.toLong)
    case IntegerType => (Int.MinValue.toLong, Int.MaxValue.toLong)
    case FloatType | DoubleType => (ofDouble(Double.NegativeInfinity), ofDouble(Double.NaN))
    case _ => (Long.MinValue, Long.MaxValue)
  }

  def toLong(value: Any, dataType: DataType): Long = value match {
    case b: Boolean => if (b) 1L else 0L
    case d: Double => ofDouble(d)
    case f: Float => ofDouble(f.toDouble)
    case d: Decimal =>
      val fixed = dataType.asInstanceOf[DecimalType]
      if (d.precision == fixed.precision && d.scale == fixed.scale) d.toUnscaledLong
      else d.toJavaBigDecimal.setScale(fixed.scale).unscaledValue.longValueExact
    case n: Number => n.longValue
    case other => throw new IllegalArgumentException(s"a value of ${dataType.sql} is a ${other.getClass.getName}")
  }

  /** The inverse of [[toLong]]. */
  def ofLong(number: Long, dataType: DataType): Any = dataType match {
    case BooleanType => number != 0
    case ByteType => number.toByte
    case ShortType => number.toShort
    case IntegerType | DateType | _: YearMonthIntervalType => number.toInt
    case FloatType => toDouble(number).toFloat
    case DoubleType => toDouble(number)
    case d: DecimalType => Decimal(number, d.precision, d.scale)
    case _ => number
  }

  private def toDouble(number: Long): Double =
    java.lang.Double.longBitsToDouble(if (number >= 0) number else number ^ Long.MaxValue)

  /** Spark's order of doubles: -0.0 equals 0.0, NaN equals itself and is above everything. */
  def ofDouble(value: Double): Long =
    if (value == 0.0) 0L
    else {
      val bits = java.lang.Double.doubleToLongBits(value)
      if (bits >= 0) bits else bits ^ Long.MaxValue
    }
}

/**
 * Keys of strings with the binary collation.
 *
 * @param onlyKeys whether no predicate compares the order of strings: all that are no keys then have the code 1
 */
final class StringKeys(values: Array[UTF8String], onlyKeys: Boolean) extends Keys {
  @transient private lazy val table = new StringTable(values)
  def size: Int = values.length
  def dataType: DataType = StringType
  def value(index: Int): Any = values(index)
  override def search: String = "hash"
  override def tuned(shares: Option[Array[Double]], onlyKeys: Boolean): Keys = new StringKeys(values, onlyKeys)
  override def realCodes: Array[Int] =
    if (size > 0 && values(0).numBytes == 0) Array(Keys.NullCode, Keys.NullCode, 2, maxCode) else super.realCodes
  def codeOf(value: Any): Int = codeOfText(value.asInstanceOf[UTF8String])
  def codeOfText(text: UTF8String): Int = {
    val key = table.find(text)
    if (key >= 0) 2 * key + 2
    else if (onlyKeys) 1 else found(Arrays.binarySearch(values.asInstanceOf[Array[AnyRef]], text))
  }
}

/** Keys of any other ordered type: wide decimals, binary. */
final class ObjectKeys(values: Array[Any], val dataType: DataType) extends Keys {
  @transient private lazy val order = TypeUtils.getInterpretedOrdering(dataType)
  def size: Int = values.length
  def value(index: Int): Any = values(index)
  def codeOf(value: Any): Int = {
    var low = 0
    var high = values.length - 1
    while (low <= high) {
      val middle = (low + high) >>> 1
      val compared = order.compare(values(middle), value)
      if (compared == 0) return found(middle)
      if (compared < 0) low = middle + 1 else high = middle - 1
    }
    found(-low - 1)
  }
}
