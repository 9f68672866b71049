package sparkrules.bind

import scala.collection.mutable

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types._

/**
 * What Spark's optimizer makes of comparisons. WHERE evaluates the result, which can have another meaning: in local
 * time, `cast(n as timestamp) = TIMESTAMP'...'` becomes a comparison of `n`, which differs in the hour that the change
 * to summer time leaves out.
 *
 * The optimizer sees a name in place of the value that is compared, or that is cast to be compared: the value itself is
 * optimised when it is computed. So its answer for one comparison holds for all with the same types, unless the cast is
 * between dates and times: there it depends on the constant.
 */
final class Rewriting(analysis: Analysis) {
  import Rewriting._

  private val names = mutable.HashMap.empty[Expression, (AttributeReference, Expression)]
  private val answers = mutable.HashMap.empty[Any, Boolean]
  private val values = mutable.HashMap.empty[Expression, Expression]

  /** Whether the optimizer keeps `comparison` as it is, and all others that differ from it only in their constants. */
  def keeps(comparison: Expression): Boolean = {
    val (seen, value) = named(comparison)
    value match {
      case _ if analysis.isLocal => true
      case Cast(from, to, _, _) if isTime(from.dataType) && isTime(to) => false
      case Cast(from, _: NumericType, _, _) if isNumber(from.dataType) =>
        true // no two numbers of the narrower type are one of the wider, and their order is the same
      case _ if value.dataType == BooleanType => true // `b = true` becomes `b`, which says the same
      case _ =>
        // Of a list Spark makes a set, if it is long, and an equation, if it has one constant: that is no difference.
        val example = seen match {
          case In(one, list) if list.distinct.length == 1 => EqualTo(one, list.head)
          case In(one, list) => In(one, list.distinct.take(2))
          case other => other
        }
        answers.getOrElseUpdate(
          typesOf(example), analysis.finish(Seq(example)).head.canonicalized == example.canonicalized)
    }
  }

  /** The comparisons as WHERE evaluates them. */
  def apply(comparisons: Seq[Expression]): Seq[Expression] = {
    val originals = AttributeMap(names.values.toSeq)
    analysis.finish(comparisons.map(named(_)._1)).map(_.transform { case a: Attribute => originals.getOrElse(a, a) })
  }

  /** The comparison with a name in the place of the value, and the value as far as the optimizer sees it. */
  private def named(comparison: Expression): (Expression, Expression) = {
    val value = valueOf(comparison.children.head)
    val seen = value match {
      case cast: Cast => cast.withNewChildren(Seq(nameOf(cast.child)))
      case other => nameOf(other)
    }
    (comparison.withNewChildren(seen +: comparison.children.tail), seen)
  }

  private def nameOf(value: Expression): Attribute =
    names.getOrElseUpdate(
      value.canonicalized, (AttributeReference("value", value.dataType, value.nullable)(), value))._1

  /** A cast, where Spark has another word for it: `to_date(ts)`. */
  private def valueOf(value: Expression): Expression = value match {
    case _: Cast | _: Attribute | _: GetStructField => value
    case other if isTime(other.dataType) && !other.exists(Slots.belongsToPlan) =>
      values.getOrElseUpdate(other.canonicalized, analysis.finish(Seq(other)).head match {
        case cast: Cast => cast
        case _ => other
      })
    case other => other
  }
}

object Rewriting {
  private def isTime(dataType: DataType): Boolean = dataType match {
    case DateType | TimestampType | TimestampNTZType => true
    case _ => false
  }

  private def isNumber(dataType: DataType): Boolean = dataType match {
    case _: NumericType | BooleanType => true
    case _ => false
  }

  private def typesOf(comparison: Expression): Any = {
    val nodes = comparison.collect { case e => (e.getClass, e.dataType, e.nullable) }
    (nodes, comparison.children.length)
  }
}
