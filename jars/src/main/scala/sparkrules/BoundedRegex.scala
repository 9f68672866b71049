package sparkrules

import java.util.regex.{Pattern, PatternSyntaxException}

import org.apache.spark.TaskContext
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenFallback
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.DataType
import org.apache.spark.unsafe.types.UTF8String

/**
 * Regular expressions that cannot hang a query. Java backtracks: `(.*a){12}b` takes hours on a line of text. But it asks
 * for each character anew, so the number of characters it may ask for bounds its time, whatever the pattern is. A search
 * that asks for more fails, as any other value that cannot be computed for a row.
 */
object BoundedRegex {
  /** The length from which on a pattern is treated with care. */
  val Long = 1000

  /** The expression with every regular expression in it bounded. */
  def in(expression: Expression): Expression = expression.transformUp(bounded)

  /** Only those that see no column. */
  def inConstants(expression: Expression): Expression = expression.transformUp {
    case e if e.references.isEmpty && bounded.isDefinedAt(e) => bounded(e)
  }

  private val bounded: PartialFunction[Expression, Expression] = {
    case test: StringRegexExpression => BoundedTest(test)
    case search @ (_: RegExpReplace | _: RegExpExtractBase | _: RegExpInStr | _: StringSplit | _: StringToMap) =>
      BoundedSearch(search)
    case BoundedSearch(search: BoundedSearch) => search
    case LikeAny(text, patterns) => balanced(patterns.map(like(text, _)))(Or)
    case LikeAll(text, patterns) => balanced(patterns.map(like(text, _)))(And)
    case NotLikeAny(text, patterns) => balanced(patterns.map(p => Not(like(text, p))))(Or)
    case NotLikeAll(text, patterns) => balanced(patterns.map(p => Not(like(text, p))))(And)
  }

  private def like(text: Expression, pattern: UTF8String): Expression =
    BoundedTest(Like(text, Literal.create(pattern, text.dataType), '\\'))

  // Spark keeps long lists together because thousands of nested ORs exhaust the stack; a balanced tree does not.
  private def balanced(tests: Seq[Expression])(join: (Expression, Expression) => Expression): Expression =
    if (tests.length == 1) tests.head
    else {
      val (left, right) = tests.splitAt(tests.length / 2)
      join(balanced(left)(join), balanced(right)(join))
    }
}

/** How much a regular expression may do in one task. Each time that it does more it may do half as much from then on. */
final class RegexBudget extends Serializable {
  private var steps = SQLConf.get.getConfString(Settings.RegexSteps.key, Settings.RegexSteps.default).toLong

  def apply[T](text: UTF8String)(search: CharSequence => T): T =
    try search(new CountedText(text.toString, steps))
    catch {
      case e: RegexExhausted =>
        steps = math.max(steps / 2, math.min(steps, RegexBudget.Least))
        throw e
    }
}

object RegexBudget {
  // Enough for any search that takes time in proportion to the length of an ordinary text.
  private val Least = 100000L
}

/** Without a trace of the stack, which would cost more than many a search. */
final class RegexExhausted(message: String) extends RuntimeException(message, null, false, false)

/** A text that allows for a number of looks at its characters. */
final class CountedText(text: String, private var steps: Long) extends CharSequence {
  def length: Int = text.length
  def charAt(i: Int): Char = {
    steps -= 1
    if (steps < 0 || (steps & 0xfffff) == 0 && cancelled) throw exhausted
    text.charAt(i)
  }
  def subSequence(start: Int, end: Int): CharSequence = text.subSequence(start, end)
  override def toString: String = text

  private def exhausted = new RegexExhausted(
    s"a regular expression took more than ${Settings.RegexSteps.key} steps on a text of ${text.length} characters")

  private def cancelled: Boolean = Option(TaskContext.get()).exists(_.isInterrupted())
}

/** LIKE or RLIKE, decided within the budget. */
final case class BoundedTest(test: StringRegexExpression) extends BinaryExpression with Predicate with CodegenFallback {
  @transient private lazy val budget = new RegexBudget
  @transient private lazy val constant: Pattern = if (right.foldable) compile(right.eval()) else null

  def left: Expression = test.left
  def right: Expression = test.right
  override def nullIntolerant: Boolean = true

  override protected def nullSafeEval(text: Any, pattern: Any): Any =
    try {
      val regex = if (constant != null) constant else compile(pattern)
      budget(text.asInstanceOf[UTF8String]) { counted =>
        val matcher = regex.matcher(counted)
        if (test.isInstanceOf[Like]) matcher.matches() else matcher.find()
      }
    } catch {
      // Spark has an error of its own for this.
      case _: PatternSyntaxException =>
        test.withNewChildren(Seq(Literal(text, left.dataType), Literal(pattern, right.dataType))).eval(EmptyRow)
    }

  private def compile(pattern: Any): Pattern =
    if (pattern == null) null
    else {
      val regex = test.escape(pattern.toString)
      // Java prepares itself to search for a long text, in time that grows with the cube of its length: 15 s for 40,000
      // equal letters. Not if the text comes second.
      val prefix = if (regex.length > BoundedRegex.Long) "(?:)" else ""
      Pattern.compile(prefix + regex, test.collationRegexFlags)
    }

  override protected def withNewChildrenInternal(left: Expression, right: Expression): Expression =
    copy(test.withNewChildren(Seq(left, right)).asInstanceOf[StringRegexExpression])
}

/** A function that searches, done by Spark itself after the same search has been rehearsed within the budget. */
final case class BoundedSearch(child: Expression) extends UnaryExpression with CodegenFallback {
  @transient private lazy val budget = new RegexBudget

  override def dataType: DataType = child.dataType
  override def nullable: Boolean = child.nullable

  override def eval(row: InternalRow): Any = {
    child match {
      case RegExpReplace(text, pattern, _, position) => rehearse(text, Seq(pattern), row, position)
      case StringToMap(text, pairs, keys) => rehearse(text, Seq(pairs, keys), row)
      case _ => rehearse(child.children.head, Seq(child.children(1)), row)
    }
    child.eval(row)
  }

  private def rehearse(text: Expression, patterns: Seq[Expression], row: InternalRow, from: Expression = Literal(1)): Unit =
    text.eval(row) match {
      case value: UTF8String =>
        val start = math.max(0, from.eval(row).asInstanceOf[Int] - 1)
        patterns.foreach(_.eval(row) match {
          case pattern: UTF8String =>
            budget(value) { counted =>
              val matcher = compiled(pattern).matcher(counted)
              matcher.region(math.min(start, counted.length), counted.length)
              while (matcher.find()) {}
            }
          case _ =>
        })
      case _ =>
    }

  private def compiled(pattern: UTF8String): Pattern =
    if (pattern.numBytes > BoundedSearch.Longest) {
      throw new RegexExhausted(s"a regular expression of more than ${BoundedSearch.Longest} characters")
    } else {
      try Pattern.compile(pattern.toString)
      catch { case _: PatternSyntaxException => BoundedSearch.Never }
    }

  override protected def withNewChildInternal(child: Expression): Expression = copy(child)
}

object BoundedSearch {
  // Here Spark compiles the pattern, and its length is all that can be bounded: 0.2 s at worst.
  private val Longest = 10000
  // Spark has an error of its own for a pattern that is none.
  private val Never = Pattern.compile("(?!)")
}
