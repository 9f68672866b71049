package sparkrules.guard

import java.util.regex.{Pattern, PatternSyntaxException}

import scala.collection.mutable

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenFallback
import org.apache.spark.sql.types.DataType
import org.apache.spark.unsafe.types.UTF8String

import sparkrules.text.{Regex, RegexReader, RegexSearch, SearchEffort}
import sparkrules.value.{Exhausted, Meter}

/** Bounds regular expressions, which could hang a query: a search that takes too many steps fails. */
object BoundedRegex {

  def bounded(meter: Meter): PartialFunction[Expression, Expression] = {
    case test: StringRegexExpression => BoundedTest(test, meter)
    case search @ (_: RegExpReplace | _: RegExpExtractBase | _: RegExpInStr | _: StringSplit | _: StringToMap) =>
      BoundedSearch(Arguments.held(search), meter)
    case LikeAny(text, patterns) => balanced(patterns.map(like(text, _, meter)))(Or)
    case LikeAll(text, patterns) => balanced(patterns.map(like(text, _, meter)))(And)
    case NotLikeAny(text, patterns) => balanced(patterns.map(p => Not(like(text, p, meter))))(Or)
    case NotLikeAll(text, patterns) => balanced(patterns.map(p => Not(like(text, p, meter))))(And)
  }

  private def like(text: Expression, pattern: UTF8String, meter: Meter): Expression =
    BoundedTest(Like(text, Literal.create(pattern, text.dataType), '\\'), meter)

  // Spark keeps long lists together because thousands of nested ORs exhaust the stack. A balanced tree does not.
  private def balanced(tests: Seq[Expression])(join: (Expression, Expression) => Expression): Expression =
    if (tests.length == 1) tests.head
    else {
      val (left, right) = tests.splitAt(tests.length / 2)
      join(balanced(left)(join), balanced(right)(join))
    }
}

/** LIKE or RLIKE. */
final case class BoundedTest(test: StringRegexExpression, meter: Meter)
    extends BinaryExpression
    with Predicate
    with CodegenFallback {

  // Those of the last pattern.
  @transient private var known: Any = _
  @transient private var search: RegexSearch = _

  def left: Expression = test.left
  def right: Expression = test.right
  override def nullIntolerant: Boolean = true

  override protected def nullSafeEval(text: Any, pattern: Any): Any =
    try {
      if (search == null || known != pattern) {
        meter.spend(BoundedTest.Reading * pattern.asInstanceOf[UTF8String].numBytes)
        search = new RegexSearch(test.escape(pattern.toString), test.collationRegexFlags, test.isInstanceOf[Like])
        known = pattern.asInstanceOf[UTF8String].copy()
      }
      search.find(text.asInstanceOf[UTF8String], meter)
    } catch {
      // Spark raises its own error.
      case _: PatternSyntaxException =>
        test.withNewChildren(Seq(Literal(text, left.dataType), Literal(pattern, right.dataType))).eval(EmptyRow)
    }

  override protected def withNewChildrenInternal(left: Expression, right: Expression): Expression =
    copy(test.withNewChildren(Seq(left, right)).asInstanceOf[StringRegexExpression])
}

object BoundedTest {
  // The steps to make an automaton of a pattern, per byte.
  private val Reading = 100L
}

/** A function that searches. Spark evaluates it after a rehearsal of the search within the bounds. */
final case class BoundedSearch(child: Expression, meter: Meter) extends UnaryExpression with CodegenFallback {
  override def dataType: DataType = child.dataType
  override def nullable: Boolean = child.nullable

  override def eval(row: InternalRow): Any = {
    Arguments.forget(child)
    val arguments = new Arguments(child, row)
    child match {
      case _: RegExpReplace =>
        val start = arguments.number(3).fold(0)(position => math.max(0, position.toInt - 1))
        rehearse(arguments, Seq(1), start, arguments(2).map(_.toString))
      case _: StringToMap => rehearse(arguments, Seq(1, 2))
      case _ => rehearse(arguments, Seq(1))
    }
    child.eval(row)
  }

  /** @param patterns which arguments are regular expressions */
  private def rehearse(
      arguments: Arguments, patterns: Seq[Int], start: Int = 0, replacement: Option[String] = None): Unit =
    for (text <- arguments.string(0); i <- patterns; pattern <- arguments.string(i))
      rehearse(text, pattern, start, replacement)

  /** Finds all matches, and sums up the size of the result: a string for each match, or the replacement. */
  private def rehearse(text: UTF8String, pattern: UTF8String, start: Int, replacement: Option[String]): Unit = {
    if (pattern.numBytes > BoundedSearch.Longest) {
      throw new Exhausted(s"a regular expression of more than ${BoundedSearch.Longest} characters")
    }
    if (known.size > BoundedSearch.Known) known.clear()
    known.getOrElseUpdate(pattern.copy(), compiled(pattern.toString)).foreach { case (compiled, effort) =>
      val counted = effort.counted(text, meter)
      val matcher = compiled.matcher(counted)
      matcher.region(math.min(start, counted.length), counted.length)
      val each = replacement.fold(BoundedSearch.Element)(_.length.toLong)
      val groups = replacement.fold(0)(_.count(_ == '$'))
      var size = text.numBytes.toLong
      while (matcher.find() && !findsOne) {
        size += each
        if (groups > 0) {
          size += groups * (0 to matcher.groupCount).map(g => (matcher.end(g) - matcher.start(g)).toLong).max
        }
        meter.foresee(size)
      }
    }
  }

  @transient private lazy val known = mutable.HashMap.empty[UTF8String, Option[(Pattern, SearchEffort)]]

  private def compiled(regex: String): Option[(Pattern, SearchEffort)] =
    try Some((Regex.compiled(regex), SearchEffort.of(RegexReader(regex), regex)))
    catch { case _: PatternSyntaxException => None } // Spark raises its own error

  private def findsOne: Boolean = child.isInstanceOf[RegExpExtract] || child.isInstanceOf[RegExpInStr]

  override protected def withNewChildInternal(child: Expression): Expression = copy(child)
}

object BoundedSearch {
  // Spark compiles the pattern, and only its length can be bounded: 0.2 s at worst.
  private val Longest = 10000
  private val Known = 16
  // The size of a string as an element of an array.
  private val Element = 48L
}
