package sparkrules

import scala.util.control.NonFatal

import org.apache.spark.sql.catalyst.analysis.{SQLFunctionExpression, UnresolvedAttribute}
import org.apache.spark.sql.catalyst.expressions.{Left => _, Right => _, _}
import org.apache.spark.sql.catalyst.optimizer.RewriteWithExpression
import org.apache.spark.sql.catalyst.plans.logical.{LeafNode, LogicalPlan, Project}
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.NumericType

/** Stands for the row that rules are evaluated on, so that Spark's analyzer can work on them. */
final case class RuleInput(output: Seq[Attribute]) extends LeafNode

/** Why Spark does not accept an expression; `missing` are the columns it names that the input lacks. */
final case class Problem(reason: String, missing: Seq[String] = Nil)

/**
 * Spark's own parser, analyzer and the optimizer steps that correctness needs, for many expressions at a time.
 *
 * @param isLocal whether WHERE would be evaluated before Spark optimises it; see [[Local]]
 */
final class Analysis(session: SparkSession, conf: SQLConf, input: RuleInput, val isLocal: Boolean = false) {
  import Analysis._

  def parse(sql: String): Either[Problem, Expression] =
    try Right(configured(session.sessionState.sqlParser.parseExpression(sql)))
    catch {
      case NonFatal(e) => Left(Problem(firstLine(e)))
      case _: StackOverflowError => Left(TooDeep)
    }

  /** Each expression resolved and coerced, or the reason why Spark would not accept it. */
  def analyze(expressions: IndexedSeq[Expression]): IndexedSeq[Either[Problem, Expression]] =
    expressions.grouped(ChunkSize).flatMap(chunk => configured(analyzeChunk(chunk))).toIndexedSeq

  // An expression that makes the analyzer throw takes its whole chunk with it: halve until it stands alone.
  private def analyzeChunk(chunk: IndexedSeq[Expression]): IndexedSeq[Either[Problem, Expression]] =
    try {
      inlined(session.sessionState.analyzer.execute(project(chunk, input))) match {
        // Functions written in SQL are expanded only where all expressions of a projection are accepted.
        case Some(analyzed) if chunk.length > 1 && analyzed.exists(_.exists(_.isInstanceOf[SQLFunctionExpression])) =>
          halves(chunk)(analyzeChunk)
        case Some(analyzed) if analyzed.length == chunk.length =>
          val all = if (isAccepted(analyzed)) analyzed.map(Right(_)) else analyzed.map(accepted)
          chunk.zip(all).map { case (original, result) => result.flatMap(permitted(original, _)) }
        case _ if chunk.length > 1 => halves(chunk)(analyzeChunk)
        case _ => IndexedSeq(Left(Problem("it is not a scalar expression over the row")))
      }
    } catch {
      case NonFatal(_) | _: StackOverflowError if chunk.length > 1 => halves(chunk)(analyzeChunk)
      case NonFatal(e) => IndexedSeq(Left(Problem(firstLine(e))))
      case _: StackOverflowError => IndexedSeq(Left(TooDeep))
    }

  private def isAccepted(analyzed: Seq[Expression]): Boolean =
    try { check(analyzed); true }
    catch { case NonFatal(_) => false }

  private def accepted(analyzed: Expression): Either[Problem, Expression] = {
    val missing = analyzed.collect { case a: UnresolvedAttribute => a.name }
    if (missing.nonEmpty) Left(noColumn(missing))
    else {
      try { check(Seq(analyzed)); Right(analyzed) }
      catch { case NonFatal(e) => Left(Problem(firstLine(e))) }
    }
  }

  private def check(analyzed: Seq[Expression]): Unit =
    session.sessionState.analyzer.checkAnalysis(project(analyzed, input))

  /**
   * Analysed expressions as Spark would evaluate them. Its optimizer decides what is evaluated at all, and so what can
   * fail: `CASE WHEN a / 0 > 1 THEN true ELSE true END` is true.
   */
  def finish(expressions: Seq[Expression]): Seq[Expression] =
    expressions.toIndexedSeq.grouped(ChunkSize).flatMap(chunk => configured(optimizeChunk(chunk))).toSeq

  // Constants that fail make the optimizer fail: such an expression stays as it is, and fails for each row.
  private def optimizeChunk(chunk: IndexedSeq[Expression]): IndexedSeq[Expression] =
    try {
      if (isLocal) evaluable(chunk)
      else inlined(session.sessionState.optimizer.execute(project(chunk, inputOf(chunk)))).get
    }
    catch {
      case NonFatal(_) if chunk.length > 1 => halves(chunk)(optimizeChunk)
      case NonFatal(_) => evaluable(chunk)
    }

  /** What correctness needs and no more: what Spark only replaces while it optimises a plan is replaced. */
  private def evaluable(expressions: Seq[Expression]): IndexedSeq[Expression] = {
    val finished = session.sessionState.optimizer.FinishAnalysis(project(expressions, inputOf(expressions)))
    inlined(RewriteWithExpression(finished)).get
  }

  private def inputOf(expressions: Seq[Expression]): RuleInput =
    RuleInput(AttributeSet.fromAttributeSets(expressions.map(_.references)).toSeq)

  /** The value of an analysed expression without column references, unless it fails. */
  def evaluated(constant: Expression): Option[Any] = constant match {
    case Literal(value, _) => Some(value)
    case _ =>
      // A list of 100,000 constants is converted one by one. Casts to numbers need no optimizer, unlike that of 'now' to
      // a date.
      val isPlain = constant match {
        case cast: Cast => cast.child.isInstanceOf[Literal] && cast.dataType.isInstanceOf[NumericType]
        case _ => false
      }
      try {
        configured {
          val ready = if (isPlain) constant else BoundedRegex.in(evaluable(Seq(constant)).head)
          Some(ready.eval(EmptyRow))
        }
      } catch { case NonFatal(_) | _: StackOverflowError => None }
  }

  private def configured[T](body: => T): T = SQLConf.withExistingConf(conf)(body)
}

object Analysis {
  private val ChunkSize = 1000
  private val TooDeep = Problem("it is nested too deeply for Spark")

  /**
   * What a rule may ask. Python has checked its text, but anyone who can write to the store can write anything. Spark
   * takes a name such as `user` for a function, and any other for a variable of the session, where there is no such
   * column.
   */
  private def permitted(original: Expression, analyzed: Expression): Either[Problem, Expression] =
    analyzed.collectFirst(forbidden) match {
      case Some(reason) => Left(Problem(reason))
      case None if !analyzed.deterministic => Left(Problem("it is not deterministic"))
      case None =>
        val variables = analyzed.collect { case v: VariableReference => v.originalNameParts }
        val isUser = analyzed.exists(_.isInstanceOf[CurrentUser])
        val missing = original.collect {
          case a: UnresolvedAttribute if variables.contains(a.nameParts) => a.name
          case a: UnresolvedAttribute if isUser && UserNames(a.name.toLowerCase) => a.name
        }
        if (missing.nonEmpty) Left(noColumn(missing))
        else if (isUser || variables.nonEmpty) Left(Problem(Environment))
        else Right(analyzed)
    }

  private val UserNames = Set("user", "current_user", "session_user")
  private val Environment = "it reveals the environment of the query"

  private val forbidden: PartialFunction[Expression, String] = {
    case _: PlanExpression[_] => "it contains a subquery"
    case _: CallMethodViaReflection => "it calls a method of Java"
    case _: RaiseError => "it exists to fail the query"
    case _: MatchCall | _: RegionCall => "it matches rules itself"
    case _: InputFileName | _: InputFileBlockStart | _: InputFileBlockLength => "it asks for the file that is read"
    case _: CurrentDatabase | _: CurrentCatalog | _: SparkVersion => Environment
    case other if other.getClass.getSimpleName == "CurrentPath" => Environment // since Spark 4.2
  }

  private def noColumn(names: Seq[String]): Problem =
    Problem(s"there is no column ${names.distinct.mkString(", ")}", names.distinct)

  private def halves[A, B](all: IndexedSeq[A])(f: IndexedSeq[A] => IndexedSeq[B]): IndexedSeq[B] = {
    val (left, right) = all.splitAt(all.length / 2)
    f(left) ++ f(right)
  }

  private def project(expressions: Seq[Expression], input: RuleInput): Project =
    Project(expressions.zipWithIndex.map { case (e, i) => Alias(e, s"e$i")() }, input)

  private def unalias(expression: NamedExpression): Expression = expression match {
    case Alias(child, _) => child
    case other => other
  }

  /**
   * The expressions of a projection over the input. Common subexpressions, and the arguments of functions written in
   * SQL, come out as projections below: they are put back where they are used.
   */
  private def inlined(plan: LogicalPlan): Option[IndexedSeq[Expression]] = plan match {
    case Project(list, Project(lower, child)) =>
      val definitions = AttributeMap(lower.collect { case a: Alias => a.toAttribute -> a.child })
      inlined(Project(
        list.map(_.transform { case a: Attribute => definitions.getOrElse(a, a) }.asInstanceOf[NamedExpression]),
        child))
    case Project(list, _: RuleInput) => Some(list.map(unalias).toIndexedSeq)
    case _ => None
  }

  private def firstLine(e: Throwable): String =
    Option(e.getMessage).getOrElse(e.toString).linesIterator.map(_.trim).find(_.nonEmpty).getOrElse(e.toString)
}
