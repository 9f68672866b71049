package sparkrules.value

import java.io.{ByteArrayInputStream, ByteArrayOutputStream, ObjectInputStream, ObjectOutputStream}
import java.util.Random

import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

import sparkrules.Suite
import sparkrules.Suite.oneOf

/** Codes of values of each type against comparing the value with every constant. */
final class KeysSuite extends Suite {

  /**
   * A type, some of its values, and how two are compared, by Java's own means.
   *
   * @param make a random value, one of a few more often than not
   */
  private final class Values(val dataType: DataType, val compare: (Any, Any) => Int, val make: Random => Any)

  private def long(value: Any): Long = value.asInstanceOf[Number].longValue

  private def integral(dataType: DataType, make: Random => Any): Values =
    new Values(dataType, (a, b) => java.lang.Long.compare(long(a), long(b)), make)

  /** Spark's order: -0.0 equals 0.0, all NaN are equal, and above everything. */
  private def compareDoubles(a: Double, b: Double): Int =
    if (a == b) 0 else if (a.isNaN || b.isNaN) a.isNaN.compare(b.isNaN) else if (a < b) -1 else 1

  private val doubles = Seq(
    0.0, -0.0, Double.NaN, java.lang.Double.longBitsToDouble(0xfff8000000000001L), Double.PositiveInfinity,
    Double.NegativeInfinity, Double.MinPositiveValue, -Double.MinPositiveValue, Double.MaxValue, Double.MinValue, 0.1,
    -1.5)

  private def compareBytes(a: Array[Byte], b: Array[Byte]): Int =
    java.util.Arrays.compareUnsigned(a, b)

  /** Few letters, so that there are equal ones, prefixes of others, and bytes that are not UTF-8. */
  private def bytes(random: Random): Array[Byte] =
    Array.fill(random.nextInt(if (random.nextInt(5) == 0) 20 else 4)) {
      oneOf[Int](random)(0, 'a', 'b', 0xc3, 0xa4, 0xff).toByte
    }

  /** Texts with one hash: UTF8String's has 32 bits, and equal hashes for these are found by search. */
  private lazy val colliding: Seq[UTF8String] = {
    val seen = scala.collection.mutable.HashMap.empty[Int, UTF8String]
    Iterator.from(0).map(i => UTF8String.fromString(s"key $i")).flatMap { text =>
      seen.put(text.hashCode, text).map(other => Seq(other, text))
    }.take(4).flatten.toSeq
  }

  private val kinds: Seq[Values] = Seq(
    integral(ByteType, random => random.nextInt.toByte),
    integral(ShortType, random => if (random.nextBoolean) random.nextInt(20).toShort else random.nextInt.toShort),
    integral(IntegerType, random => oneOf(random)(Int.MinValue, Int.MaxValue, -1, 0, 1, random.nextInt)),
    integral(DateType, random => random.nextInt(100)),
    integral(LongType, random => oneOf(random)(Long.MinValue, Long.MaxValue, 0L, random.nextLong)),
    integral(TimestampType, random => random.nextInt(50).toLong),
    new Values(
      DoubleType,
      (a, b) => compareDoubles(a.asInstanceOf[Double], b.asInstanceOf[Double]),
      random => if (random.nextBoolean) oneOf(random)(doubles: _*) else random.nextGaussian),
    new Values(
      FloatType,
      (a, b) => compareDoubles(a.asInstanceOf[Float].toDouble, b.asInstanceOf[Float].toDouble),
      random => if (random.nextBoolean) oneOf(random)(doubles: _*).toFloat else random.nextFloat),
    new Values(
      StringType,
      (a, b) => compareBytes(a.asInstanceOf[UTF8String].getBytes, b.asInstanceOf[UTF8String].getBytes),
      random => if (random.nextInt(4) == 0) oneOf(random)(colliding: _*) else UTF8String.fromBytes(bytes(random))),
    new Values(
      BinaryType,
      (a, b) => compareBytes(a.asInstanceOf[Array[Byte]], b.asInstanceOf[Array[Byte]]),
      random => bytes(random)),
    decimals(DecimalType(9, 2)),
    decimals(DecimalType(38, 10)))

  private def decimals(dataType: DecimalType): Values = new Values(
    dataType,
    (a, b) => a.asInstanceOf[Decimal].toJavaBigDecimal.compareTo(b.asInstanceOf[Decimal].toJavaBigDecimal),
    random =>
      Decimal(BigDecimal(BigInt(random.nextInt(2000) - 1000), dataType.scale), dataType.precision, dataType.scale))

  private def withoutEquals(values: Values, constants: Seq[Any]): Seq[Any] =
    constants.foldLeft(List.empty[Any]) { (kept, next) =>
      if (kept.exists(values.compare(_, next) == 0)) kept else next :: kept
    }

  private def expectedCode(values: Values, different: Seq[Any], value: Any): Int = {
    val below = different.count(values.compare(_, value) < 0)
    if (different.exists(values.compare(_, value) == 0)) 2 * below + 2 else 2 * below + 1
  }

  private def copied(keys: Keys): Keys = {
    val bytes = new ByteArrayOutputStream
    new ObjectOutputStream(bytes).writeObject(keys)
    new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray)).readObject().asInstanceOf[Keys]
  }

  kinds.foreach { values =>
    test(s"codes of ${values.dataType.sql}") {
      cases(100) { random =>
        val constants = Array.fill(random.nextInt(40))(values.make(random))
        val different = withoutEquals(values, constants.toSeq)
        val plain = Keys.of(values.dataType, constants)
        val keys = random.nextInt(3) match {
          case 0 => plain
          case 1 => copied(plain)
          case _ => plain.tuned(None, onlyKeys = false)
        }
        (constants.iterator ++ Iterator.fill(40)(values.make(random))).foreach { value =>
          val expected = expectedCode(values, different, value)
          checkEqual(keys.codeOf(value), expected, s"$value among ${constants.mkString(", ")}")
          val real = keys.realCodes
          check(Codes.contains(real, 0, real.length, expected),
            s"$value has the code $expected, which counts as not real")
        }
        (0 until keys.size).foreach { i =>
          checkEqual(keys.codeOf(keys.value(i)), 2 * i + 2, s"key $i, ${keys.value(i)}")
        }
      }
    }
  }

  test("no value lies between neighbours, below the lowest or above the highest of a type") {
    val keys = Keys.of(ByteType, Array(Byte.MinValue, 3.toByte, 4.toByte, Byte.MaxValue))
    val real = (0 to keys.maxCode).filter(code => Codes.contains(keys.realCodes, 0, keys.realCodes.length, code))
    checkEqual(real, Seq(0, 2, 3, 4, 6, 7, 8), "real codes")
    val texts = Keys.of(StringType, Array(UTF8String.fromString("")))
    check(!Codes.contains(texts.realCodes, 0, texts.realCodes.length, 1), "a text below the empty one")
  }

  test("a Boolean has both keys, whatever it is compared with") {
    val keys = Keys.of(BooleanType, Array.empty)
    checkEqual((keys.codeOf(false), keys.codeOf(true)), (Keys.FalseCode, Keys.TrueCode), "codes")
  }

  test("texts that are no keys share a code where only keys count") {
    cases(200) { random =>
      val texts = Array.fill[Any](random.nextInt(30))(UTF8String.fromBytes(bytes(random)))
      val keys = Keys.of(StringType, texts).tuned(None, onlyKeys = true)
      Iterator.fill(50)(UTF8String.fromBytes(bytes(random))).foreach { text =>
        val code = keys.codeOf(text)
        checkEqual(code % 2 == 0, texts.contains(text), s"whether '$text' is a key")
        check(code % 2 == 0 || code == 1, s"'$text' has the code $code")
      }
    }
  }
}
