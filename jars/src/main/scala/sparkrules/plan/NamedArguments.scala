package sparkrules.plan

import java.util.Locale

import scala.util.Try

import org.apache.spark.sql.catalyst.expressions.{Left => _, Right => _, _}
import org.apache.spark.sql.catalyst.util.ArrayData
import org.apache.spark.sql.types.{ArrayType, BooleanType, ByteType, IntegerType, LongType, ShortType, StringType}
import org.apache.spark.unsafe.types.UTF8String

import sparkrules.conf.RulesException

/**
 * The named arguments of a call, all of them constants.
 *
 * @param top how many matches are wanted
 * @param fields the fields of the rules' metadata that are wanted
 * @param tags rules with one of these are asked; all if it is not given
 * @param shadow whether shadow rules are asked, too
 * @param observe the name under which matches are counted
 */
final case class NamedArguments(
    top: Option[Int] = None,
    fields: Option[Seq[String]] = None,
    tags: Option[Seq[String]] = None,
    shadow: Boolean = false,
    observe: Option[String] = None)

object NamedArguments {

  /** The functions that take them. */
  private val Takers = Set("match_subscriptions", "subscription_matches")

  private val LongestName = 200

  /** `top => 3` and the like, and the other arguments. Spark hands named arguments to a builder as they are. */
  def split(function: String, arguments: Seq[Expression]): (NamedArguments, Seq[Expression]) = {
    val (named, others) = arguments.partitionMap {
      case named: NamedArgumentExpression => Left(named)
      case other => Right(other)
    }
    val keys = named.map(_.key.toLowerCase(Locale.ROOT))
    keys.diff(keys.distinct).headOption.foreach { key =>
      throw new RulesException(s"$function has two arguments '$key'.")
    }
    val read = keys.zip(named.map(_.value)).foldLeft(NamedArguments()) {
      case (asked, ("top", value)) if Takers(function) => asked.copy(top = Some(number(function, value)))
      case (asked, (key @ "fields", value)) if Takers(function) =>
        asked.copy(fields = Some(texts(function, key, value, "array('severity', 'title')")))
      case (asked, (key @ "tags", value)) if Takers(function) =>
        asked.copy(tags = Some(texts(function, key, value, "array('windows')")))
      case (asked, ("shadow", value)) if Takers(function) => asked.copy(shadow = truth(function, value))
      case (asked, ("observe", value)) if Takers(function) => asked.copy(observe = Some(name(function, value)))
      case (_, (key, _)) =>
        val known =
          "top => 3, fields => array('severity'), tags => array('windows'), shadow => true and observe => 'nightly'"
        throw new RulesException(
          s"$function has no argument '$key'." + (if (Takers(function)) s" It takes $known." else ""))
    }
    (read, others)
  }

  private def number(function: String, value: Expression): Int = value match {
    case Literal(n: Number, ByteType | ShortType | IntegerType | LongType) if n.longValue > 0 =>
      math.min(n.longValue, Int.MaxValue.toLong).toInt
    case other =>
      throw new RulesException(
        s"$function: top => ${other.sql} is not a positive whole number. Write top => 3 for the first three matches.")
  }

  private def truth(function: String, value: Expression): Boolean = value match {
    case Literal(isTrue: Boolean, BooleanType) => isTrue
    case other => throw new RulesException(s"$function: shadow => ${other.sql} is neither true nor false.")
  }

  private def name(function: String, value: Expression): String = value match {
    case Literal(name: UTF8String, _: StringType) if name.numChars > 0 && name.numChars <= LongestName => name.toString
    case other =>
      throw new RulesException(
        s"$function: observe => ${other.sql.take(LongestName)} is not a name of at most $LongestName characters. " +
          "Write observe => 'nightly' to count the matches of each rule under this name.")
  }

  /** Distinct strings that are not empty. */
  private def texts(function: String, key: String, value: Expression, example: String): Seq[String] = {
    def wrong(what: String) =
      new RulesException(s"$function: $key => ${value.sql} $what. Write $key => $example.")
    val constant = if (value.resolved && value.foldable) Try(value.eval(EmptyRow)).toOption else None
    val found = (constant, value.dataType) match {
      case (None, _) => throw wrong("is not a constant")
      case (Some(text: UTF8String), _: StringType) => Seq[Any](text)
      case (Some(some: ArrayData), ArrayType(element: StringType, _)) => some.toObjectArray(element).toSeq
      case (Some(some: ArrayData), _) if some.numElements() == 0 => Nil
      case _ => throw wrong("is not an array of strings")
    }
    if (found.isEmpty) throw wrong("is empty")
    val names = found.map {
      case text: UTF8String if text.numBytes > 0 => text.toString
      case _ => throw wrong("has an element that is NULL or empty")
    }
    names.diff(names.distinct).headOption.foreach(twice => throw wrong(s"has '$twice' twice"))
    names
  }
}
