package sparkrules.plan

import java.util.HashMap

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenFallback
import org.apache.spark.sql.catalyst.util.{ArrayData, GenericArrayData}
import org.apache.spark.sql.types.DataType
import org.apache.spark.unsafe.types.UTF8String

import sparkrules.pattern.{Pattern, PatternKey}

/**
 * A pattern, and where the values that it needs are among those of [[PatternEvents]].
 *
 * @param value the place of the value that is counted, or -1
 */
final case class PlacedPattern(pattern: Pattern, key: Seq[Int], value: Int)

/**
 * The events that a row is, given the rules that match it. A row without a time, or without a value of a pattern's key,
 * is no event of that pattern.
 *
 * @param values columns as strings: those of keys, and those that are counted
 */
final case class PatternEvents(
    patterns: Seq[PlacedPattern],
    ids: Expression,
    time: Expression,
    id: Expression,
    values: Seq[Expression])
    extends Expression
    with CodegenFallback {
  override def children: Seq[Expression] = Seq(ids, time, id) ++ values
  override def dataType: DataType = PatternCall.Events
  override def nullable: Boolean = false
  override def stateful: Boolean = true
  override def prettyName: String = "pattern_events"
  override def toString: String = s"$prettyName(${patterns.length} patterns, $ids)"

  // For each rule the patterns that it is in, and the steps there that it fulfils.
  @transient private lazy val roles: HashMap[UTF8String, Array[PatternEvents.Role]] = {
    val found =
      for {
        (placed, number) <- patterns.zipWithIndex
        (terms, step) <- placed.pattern.steps.zipWithIndex
        term <- terms
      } yield term.rule -> PatternEvents.Role(number, 1L << step)
    val result = new HashMap[UTF8String, Array[PatternEvents.Role]]
    found.groupBy(_._1).foreach { case (rule, own) =>
      result.put(UTF8String.fromString(rule), own.map(_._2).toArray)
    }
    result
  }
  @transient private lazy val starts = patterns.map(placed => PatternKey.of(placed.pattern)).toArray
  @transient private lazy val steps = new Array[Long](patterns.length)
  @transient private lazy val touched = new Array[Int](patterns.length)
  @transient private lazy val keys = patterns.map(_.key.toArray).toArray
  @transient private lazy val counted = patterns.map(_.value).toArray
  @transient private lazy val parts = new Array[UTF8String](values.length)

  override def eval(row: InternalRow): Any = {
    val matched = ids.eval(row).asInstanceOf[ArrayData]
    val count = if (matched.numElements() == 0 || time.eval(row) == null) 0 else collect(matched)
    if (count == 0) PatternEvents.NoEvents
    else {
      java.util.Arrays.fill(parts.asInstanceOf[Array[AnyRef]], null)
      val name = id.eval(row)
      val events = Array.newBuilder[Any]
      var i = 0
      while (i < count) {
        val pattern = touched(i)
        val key = keyOf(pattern, row)
        val value = if (counted(pattern) < 0) null else values(counted(pattern)).eval(row)
        if (key != null && (counted(pattern) < 0 || value != null)) {
          events += new GenericInternalRow(Array[Any](key, steps(pattern), name, value))
        }
        steps(pattern) = 0
        i += 1
      }
      new GenericArrayData(events.result())
    }
  }

  /** Notes the patterns of the matching rules, and returns how many there are. */
  private def collect(matched: ArrayData): Int = {
    var (count, i) = (0, 0)
    while (i < matched.numElements()) {
      val own = roles.get(matched.getUTF8String(i))
      if (own != null) own.foreach { role =>
        if (steps(role.pattern) == 0) {
          touched(count) = role.pattern
          count += 1
        }
        steps(role.pattern) |= role.step
      }
      i += 1
    }
    count
  }

  private def keyOf(pattern: Int, row: InternalRow): UTF8String = {
    var key = starts(pattern)
    val places = keys(pattern)
    var i = 0
    while (i < places.length && key != null) {
      val place = places(i)
      if (parts(place) == null) {
        val value = values(place).eval(row).asInstanceOf[UTF8String]
        if (value != null) parts(place) = PatternKey.part(value)
      }
      key = if (parts(place) == null) null else UTF8String.concat(key, parts(place))
      i += 1
    }
    key
  }

  override protected def withNewChildrenInternal(newChildren: IndexedSeq[Expression]): PatternEvents =
    copy(ids = newChildren(0), time = newChildren(1), id = newChildren(2), values = newChildren.drop(3))
}

private object PatternEvents {
  final case class Role(pattern: Int, step: Long)

  val NoEvents = new GenericArrayData(Array.empty[Any])
}
