package sparkrules

import scala.util.control.NonFatal

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenFallback
import org.apache.spark.sql.catalyst.util.ArrayData
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.{CalendarInterval, UTF8String}

/**
 * A function whose value can be far larger than its arguments, or take far more time than they are long: what it will
 * take is estimated from its arguments before it is called. Everything else makes a small multiple of what it is given,
 * in proportional time, and that is bounded.
 */
final case class Foreseen(child: Expression, meter: Meter) extends UnaryExpression with CodegenFallback {
  override def dataType: DataType = child.dataType
  override def nullable: Boolean = child.nullable

  @transient private lazy val held = child.children.collect { case held: Held => held }
  @transient private lazy val isOpen = ValueSize.isOpen(dataType)

  override def eval(row: InternalRow): Any = {
    held.foreach(_.forget())
    val arguments = new Foreseen.Arguments(child, row)
    Foreseen.need(child)(arguments).foreach { need =>
      meter.spend(need.steps)
      meter.foresee(need.bytes)
    }
    val value = child.eval(row)
    if (isOpen && value != null) meter.hold(ValueSize.of(value, dataType, Long.MaxValue))
    value
  }
  override protected def withNewChildInternal(child: Expression): Expression = copy(child)
}

/** An argument that is computed once, when it is first asked for. */
final case class Held(child: Expression) extends UnaryExpression with CodegenFallback {
  override def dataType: DataType = child.dataType
  override def nullable: Boolean = child.nullable

  @transient private var isKnown = false
  @transient private var value: Any = _
  @transient private var error: Throwable = _

  def forget(): Unit = isKnown = false

  override def eval(row: InternalRow): Any = {
    if (!isKnown) {
      error = null
      try value = child.eval(row)
      catch { case NonFatal(e) => error = e }
      isKnown = true
    }
    if (error != null) throw error
    value
  }
  override protected def withNewChildInternal(child: Expression): Expression = copy(child)
}

object Foreseen {
  final case class Need(bytes: Long = 0, steps: Long = 0)

  /** The arguments of a call; None where one is NULL or fails, and the call does no work. */
  final class Arguments(call: Expression, row: InternalRow) {
    def apply(i: Int): Option[Any] =
      try Option(call.children(i).eval(row))
      catch { case NonFatal(_) => None }

    def number(i: Int): Option[Long] = apply(i).collect { case n: Number => n.longValue }

    /** The length of a text or bytes, the number of elements of an array. */
    def length(i: Int): Option[Long] = apply(i).collect {
      case text: UTF8String => text.numBytes.toLong
      case bytes: Array[Byte] => bytes.length.toLong
      case array: ArrayData => array.numElements().toLong
    }

    def size(i: Int): Option[Long] = apply(i).map(ValueSize.of(_, call.children(i).dataType, Long.MaxValue))

    def sizes: Long = call.children.indices.flatMap(size(_)).sum
  }

  def bounded(meter: Meter): PartialFunction[Expression, Expression] = {
    case e if needs.isDefinedAt(e) => Foreseen(e.withNewChildren(e.children.map(hold)), meter)
  }

  def need(call: Expression): Arguments => Option[Need] = needs(call)

  private def hold(child: Expression): Expression = child match {
    case _: LeafExpression | _: LambdaFunction => child
    case _ => Held(child)
  }

  private def bytes(count: Option[Long], each: Option[Long]): Option[Need] =
    for (n <- count; size <- each) yield Need(bytes = times(math.max(0, n), size))

  private def steps(some: Option[Long], others: Option[Long], each: Long): Option[Need] =
    for (a <- some; b <- others) yield Need(steps = times(times(a, b), each))

  private def times(a: Long, b: Long): Long = if (a > 0 && b > Long.MaxValue / a) Long.MaxValue else a * b

  private val needs: PartialFunction[Expression, Arguments => Option[Need]] = {
    // A part for a part.
    case _: StringReplace => a =>
        for (text <- a.length(0); sought <- a.length(1); put <- a.length(2))
          yield Need(text + times(text / math.max(1, sought), put), if (sought == 0) 0 else text)
    // As many as a number says.
    case _: StringRepeat => a => bytes(a.number(1), a.length(0))
    case _: StringSpace => a => bytes(a.number(0), Some(1))
    case _: StringLPad | _: StringRPad | _: BinaryPad => a => bytes(a.number(1), Some(4))
    case _: ArrayRepeat => a => bytes(a.number(1), a.size(0).map(_ + 8))
    case _: ArrayInsert => a => bytes(a.number(1).map(math.abs), Some(8))
    case _: Sequence => a => bytes(elements(a), Some(8))
    case _: FormatNumber => a => bytes(a.number(1), Some(4))
    case _: FormatString => a =>
        a(0).map(format => Need(Number.findAllIn(format.toString).map(_.take(18).toLong).foldLeft(0L)(_ + _)))
    // Between every two.
    case _: ArrayJoin => a => for (array <- a.size(0); n <- a.length(0); by <- a.length(1)) yield Need(array + times(n, by))
    case e: ConcatWs => a =>
        for (by <- a.length(0)) yield {
          val texts = e.children.indices.drop(1).flatMap(i => a(i).map {
            case array: ArrayData => array.numElements().toLong
            case _ => 1L
          }).sum
          Need(a.sizes + times(texts, by))
        }
    // Digits of numbers.
    case _: RoundBase => a => a.number(1).map(digits => Need(steps = times(math.abs(digits), math.abs(digits) / 64 + 1)))
    case cast: Cast if cast.dataType.isInstanceOf[DecimalType] && cast.child.dataType.isInstanceOf[StringType] => a =>
        a(0).flatMap { text =>
          Exponent.findFirstMatchIn(text.toString).map { found =>
            val digits = found.group(1).take(12).toLong
            Need(steps = times(digits, digits / 64 + 1))
          }
        }
    // Every one with every other.
    case _: Levenshtein => a => steps(a.length(0), a.length(1), 4)
    case e if e.getClass.getSimpleName.startsWith("JaroWinkler") => a => steps(a.length(0), a.length(1), 4)
    case e @ (_: ArrayDistinct | _: ArrayUnion | _: ArrayExcept | _: ArrayIntersect | _: ArraysOverlap)
        if !isHashed(e.children.head.dataType) => a =>
        val lengths = e.children.indices.flatMap(a.length(_)).sum
        Some(Need(steps = times(lengths, a.sizes)))
    case e @ (_: StringPredicate | _: StringInstr | _: StringLocate | _: SubstringIndex | _: StringSplitSQL)
        if e.children.exists(c => isCollated(c.dataType)) => a =>
        Some(Need(steps = times(e.children.indices.flatMap(a.length(_)).filter(_ > 0).take(2).product, Collation)))
    // One after the other, and they are many.
    case e if e.children.length > Many && e.children.count(c => ValueSize.isOpen(c.dataType)) > Many => a => Some(Need(a.sizes))
  }

  private val Many = 8
  private val Collation = 32L
  private val Number = """\d+""".r
  private val Exponent = """[eE][+-]?(\d+)""".r

  private def isCollated(dataType: DataType): Boolean = dataType.isInstanceOf[StringType] && dataType != StringType

  /** Spark compares each element with each other unless they can be put in a hash table. */
  private def isHashed(array: DataType): Boolean = array match {
    case ArrayType(BinaryType | _: ArrayType | _: StructType | _: MapType, _) => false
    case ArrayType(element, _) => !isCollated(element)
    case _ => true
  }

  private def elements(a: Arguments): Option[Long] = {
    val step = a(2) match {
      case Some(n: Number) => n.longValue
      case Some(interval: CalendarInterval) =>
        interval.months * 2419200000000L + interval.days * 82800000000L + interval.microseconds
      case _ => 1L
    }
    for (first <- a.number(0); last <- a.number(1)) yield {
      val distance = if (first < 0 == last < 0) math.abs(last - first) else math.abs(first.toDouble - last).toLong
      distance / math.max(1, math.abs(step)) + 1
    }
  }
}
