package sparkrules.guard

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenFallback
import org.apache.spark.sql.catalyst.expressions.objects.{Invoke, StaticInvoke}
import org.apache.spark.sql.catalyst.expressions.url.ParseUrlEvaluator
import org.apache.spark.sql.catalyst.util.{ArrayData, MapData}
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.{CalendarInterval, UTF8String}

import sparkrules.value.{Meter, ValueSize}

/**
 * A function whose value can be far larger than its arguments, or whose time is not proportional to their size.
 * Estimates from the arguments what the call needs, before it is made. Other functions make a small multiple of their
 * arguments in proportional time, which is bounded.
 */
final case class Foreseen(child: Expression, meter: Meter) extends UnaryExpression with CodegenFallback {
  override def dataType: DataType = child.dataType
  override def nullable: Boolean = child.nullable

  @transient private lazy val isOpen = ValueSize.isOpen(dataType)

  override def eval(row: InternalRow): Any = {
    Arguments.forget(child)
    Foreseen.need(child)(new Arguments(child, row)).foreach { need =>
      meter.spend(need.steps)
      meter.foresee(need.bytes)
    }
    val value = child.eval(row)
    if (isOpen && value != null) meter.hold(ValueSize.of(value, dataType, meter.most))
    value
  }
  override protected def withNewChildInternal(child: Expression): Expression = copy(child)
}

object Foreseen {
  final case class Need(bytes: Long = 0, steps: Long = 0)

  def bounded(meter: Meter): PartialFunction[Expression, Expression] = {
    case e if needs.isDefinedAt(e) => Foreseen(Arguments.held(e), meter)
  }

  def need(call: Expression): Arguments => Option[Need] = needs(call)

  private type Estimate = Arguments => Option[Need]

  private val needs: PartialFunction[Expression, Estimate] =
    Function.unlift(e => Seq(multiplied, searched, compared, numbers, documents, many).flatMap(_.lift(e)).headOption)

  /** Functions that repeat something as often as an argument says, or once per element of another. */
  private val multiplied: PartialFunction[Expression, Estimate] = {
    case _: StringRepeat => a => bytes(a.number(1), a.length(0))
    case _: StringSpace => a => bytes(a.number(0), Some(1))
    case _: StringLPad | _: StringRPad | _: BinaryPad => a => bytes(a.number(1), Some(4))
    case e: StaticInvoke if e.functionName == "lpad" || e.functionName == "rpad" => a => bytes(a.number(1), Some(4))
    case _: ArrayRepeat => a => bytes(a.number(1), Some(8 + a.size(0).getOrElse(0L)))
    case _: ArrayInsert => a => bytes(a.number(1).map(math.abs), Some(8))
    case _: Sequence => a => bytes(elements(a), Some(8))
    case _: FormatNumber => a => bytes(a.number(1), Some(4))
    case _: FormatString => a => a(0).map(format => Need(Digits.findAllIn(format.toString).map(_.take(18).toLong).sum))
    case _: ArrayJoin => a =>
        for (array <- a.size(0); n <- a.length(0); by <- a.length(1))
          yield Need(array + times(n, by + a.length(2).getOrElse(0L)))
    case e: ConcatWs => a =>
        a.length(0).map { by =>
          val texts = e.children.indices.drop(1).flatMap(a(_)).map {
            case array: ArrayData => array.numElements().toLong
            case _ => 1L
          }.sum
          Need(a.sizes + times(texts, by))
        }
  }

  /** Functions that look for a string in another. */
  private val searched: PartialFunction[Expression, Estimate] = {
    case e: StringReplace => a =>
        for (text <- a.length(0); sought <- a.length(1); put <- a.length(2))
          yield Need(text + times(text / math.max(1, sought), put), search(e, 0, 1, a))
    case e @ (_: Contains | _: StringInstr | _: SubstringIndex | _: StringSplitSQL) => a =>
        Some(Need(steps = search(e, 0, 1, a)))
    case e: StringLocate => a => Some(Need(steps = search(e, 1, 0, a)))
    case e: String2TrimExpression if e.children.length == 2 => a =>
        steps(a.length(0), a.length(1), if (e.children.exists(c => isCollated(c.dataType))) Collation else 2)
    // Any other function that looks for a string in another by a collation.
    case e if e.children.count(c => isCollated(c.dataType)) > 1 && !comparesOrKeeps(e) => a =>
        val lengths = e.children.indices.filter(i => isCollated(e.children(i).dataType)).flatMap(a.length(_)).sorted
        Some(Need(steps = lengths.takeRight(2).foldLeft(Collation)(times)))
  }

  /** Functions that compare every part with every other. */
  private val compared: PartialFunction[Expression, Estimate] = {
    case _: Levenshtein => a => steps(a.length(0), a.length(1), 4)
    case e: StaticInvoke if e.functionName == "jaroWinklerSimilarity" => a =>
        val isAscii = Seq(0, 1).flatMap(a(_)).forall { case t: UTF8String => t.numBytes == t.numChars case _ => true }
        steps(a.length(0), a.length(1), if (isAscii) 8 else 8 * (1 + a.length(0).getOrElse(0L)))
    case e @ (_: ArrayDistinct | _: ArrayUnion | _: ArrayExcept | _: ArrayIntersect | _: ArraysOverlap)
        if !isHashed(e.children.head.dataType) => a =>
        Some(Need(steps = times(e.children.indices.flatMap(a.length(_)).sum, a.sizes)))
    case e: MapZipWith => a =>
        val counts = Seq(0, 1).flatMap(a(_)).map { case map: MapData => map.numElements().toLong case _ => 0L }
        val each = if (isHashed(ArrayType(e.functions.head.dataType))) 16 else 256
        Some(Need(steps = times(counts.product, each)))
  }

  /** Functions of numbers with more digits than they show. */
  private val numbers: PartialFunction[Expression, Estimate] = {
    case _: RoundBase => a => a.number(1).map(n => Need(steps = power(math.abs(n))))
    case e @ (_: Cast | _: ToNumber | _: TryToNumber)
        if e.dataType.isInstanceOf[DecimalType] && e.children.head.dataType.isInstanceOf[StringType] => a =>
        a(0).map(text => Need(steps = exponents(text.toString)))
  }

  private val documents: PartialFunction[Expression, Estimate] = {
    case e @ (_: JsonToStructs | _: CsvToStructs | _: XmlToStructs) => a =>
        a(0).map { text =>
          val document = text.toString
          val rows = 1L + document.count(c => c == '{' || c == '<')
          val all = fields(e.dataType)
          val decimals = if (hasDecimals(e.dataType)) exponents(document) else 0
          val defaults = if (e.isInstanceOf[CsvToStructs]) times(times(all, all), CsvSteps) else 0
          Need(times(rows, 8 * all), math.max(decimals, defaults))
        }
    // Each hop can lead from every node to every other.
    case _: PlainDocument => a =>
        for (document <- a(0); path <- a(1)) yield {
          val nodes = document.toString.count(_ == '<').toDouble
          Need(steps = (XPathSteps * math.pow(nodes, Hops.findAllIn(path.toString).length.max(1).toDouble)).toLong)
        }
    // Spark makes a regular expression of the key, and nothing bounds it: the key has to be a plain name.
    case e if isParseUrl(e) => a =>
        a(e.children.length - 1).map(key => Need(steps = if (PlainKey.matches(key.toString)) 0 else Long.MaxValue))
  }

  /** Functions with many arguments, which they concatenate. */
  private val many: PartialFunction[Expression, Estimate] = {
    case e if e.children.length > Many && e.children.count(c => ValueSize.isOpen(c.dataType)) > Many => a =>
        Some(Need(a.sizes))
  }

  private val Many = 8
  private val Collation = 32L
  private val Digits = """\d+""".r
  private val Exponent = """[\d.][eE][+-]?(\d+)""".r
  private val XPathSteps = 100
  // If a row is too short, Spark computes the defaults of all columns for each missing one.
  private val CsvSteps = 50L
  private val Hops = """//|::|\[""".r
  private val PlainKey = """[\w.:~-]*""".r

  private def bytes(count: Option[Long], each: Option[Long]): Option[Need] =
    for (n <- count; size <- each) yield Need(bytes = times(math.max(0, n), size))

  private def steps(some: Option[Long], others: Option[Long], each: Long): Option[Need] =
    for (a <- some; b <- others) yield Need(steps = times(times(a, b), each))

  private def times(a: Long, b: Long): Long = if (a > 0 && b > Long.MaxValue / a) Long.MaxValue else a * b

  /** Spark compares wherever the first byte is found. */
  private def search(call: Expression, text: Int, sought: Int, a: Arguments): Long = (a(text), a(sought)) match {
    case (Some(text: UTF8String), Some(sought: UTF8String)) if text.numBytes > 0 && sought.numBytes > 0 =>
      if (call.children.exists(c => isCollated(c.dataType))) times(times(text.numBytes, sought.numBytes), Collation)
      else if (times(text.numBytes, sought.numBytes) < Meter.Interval) 0
      else {
        val first = sought.getByte(0)
        var (tries, i) = (0L, 0)
        while (i < text.numBytes) { if (text.getByte(i) == first) tries += 1; i += 1 }
        text.numBytes + times(tries, sought.numBytes)
      }
    case _ => 0
  }

  /** The steps to compute ten to this power. */
  private def power(digits: Long): Long = times(digits, digits / 64 + 1)

  private def exponents(text: String): Long =
    Exponent.findAllMatchIn(text).map(found => power(found.group(1).take(12).toLong))
      .foldLeft(0L)((sum, steps) => if (sum > Long.MaxValue - steps) Long.MaxValue else sum + steps)

  private def isCollated(dataType: DataType): Boolean = dataType.isInstanceOf[StringType] && dataType != StringType

  /** Whether it compares strings from their start, or keeps them as they are. */
  private def comparesOrKeeps(e: Expression): Boolean = e match {
    case _: BinaryComparison | _: In | _: InSet | _: Greatest | _: Least | _: Coalesce | _: If | _: CaseWhen => true
    case _: Concat | _: CreateArray | _: CreateMap | _: CreateNamedStruct | _: NullIf | _: Elt => true
    case _: StringRegexExpression => true
    case _ => false
  }

  /** Spark compares every element with every other unless it can hash them. */
  private def isHashed(array: DataType): Boolean = array match {
    case ArrayType(BinaryType | _: ArrayType | _: StructType | _: MapType, _) => false
    case ArrayType(element, _) => !isCollated(element)
    case _ => true
  }

  private def isParseUrl(e: Expression): Boolean = e match {
    case call: Invoke => call.children.length == 4 && (call.targetObject match {
        case Literal(_: ParseUrlEvaluator, _) => true
        case _ => false
      })
    case _: ParseUrl => e.children.length == 3
    case _ => false
  }

  private def fields(dataType: DataType): Long = dataType match {
    case StructType(all) => all.iterator.map(field => fields(field.dataType)).sum + all.length
    case ArrayType(element, _) => fields(element)
    case MapType(key, item, _) => fields(key) + fields(item)
    case _ => 1
  }

  private def hasDecimals(dataType: DataType): Boolean = dataType match {
    case StructType(all) => all.exists(field => hasDecimals(field.dataType))
    case ArrayType(element, _) => hasDecimals(element)
    case MapType(key, item, _) => hasDecimals(key) || hasDecimals(item)
    case other => other.isInstanceOf[DecimalType] || other == VariantType
  }

  private def elements(a: Arguments): Option[Long] = {
    val step = a(2) match {
      case Some(n: Number) => n.longValue
      case Some(interval: CalendarInterval) =>
        interval.months * 2419200000000L + interval.days * 82800000000L + interval.microseconds
      case _ => 1L
    }
    for (first <- a.number(0); last <- a.number(1))
      yield (math.abs(last.toDouble - first) / math.max(1, math.abs(step.toDouble))).toLong + 1
  }
}
