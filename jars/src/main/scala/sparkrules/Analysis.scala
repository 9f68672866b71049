package sparkrules

import scala.util.control.NonFatal

import org.apache.spark.sql.catalyst.analysis.UnresolvedAttribute
import org.apache.spark.sql.catalyst.expressions.{Left => _, Right => _, _}
import org.apache.spark.sql.catalyst.optimizer.RewriteWithExpression
import org.apache.spark.sql.catalyst.plans.logical.{LeafNode, LogicalPlan, Project}
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.internal.SQLConf

/** Stands for the row that rules are evaluated on, so that Spark's analyzer can work on them. */
final case class RuleInput(output: Seq[Attribute]) extends LeafNode

/** Why Spark does not accept an expression; `missing` are the columns it names that the input lacks. */
final case class Problem(reason: String, missing: Seq[String] = Nil)

/** Spark's own parser, analyzer and the optimizer steps that correctness needs, for many expressions at a time. */
final class Analysis(session: SparkSession, conf: SQLConf, input: RuleInput) {
  import Analysis._

  def parse(sql: String): Either[Problem, Expression] =
    try Right(configured(session.sessionState.sqlParser.parseExpression(sql)))
    catch { case NonFatal(e) => Left(Problem(firstLine(e))) }

  /** Each expression resolved and coerced, or the reason why Spark would not accept it. */
  def analyze(expressions: IndexedSeq[Expression]): IndexedSeq[Either[Problem, Expression]] =
    expressions.grouped(ChunkSize).flatMap(chunk => configured(analyzeChunk(chunk))).toIndexedSeq

  // An expression that makes the analyzer throw takes its whole chunk with it: halve until it stands alone.
  private def analyzeChunk(chunk: IndexedSeq[Expression]): IndexedSeq[Either[Problem, Expression]] =
    try {
      session.sessionState.analyzer.execute(project(chunk, input)) match {
        case Project(list, _: RuleInput) if list.length == chunk.length =>
          val analyzed = list.map(unalias).toIndexedSeq
          val all = if (isAccepted(analyzed)) analyzed.map(Right(_)) else analyzed.map(accepted)
          chunk.zip(all).map { case (original, result) => result.flatMap(permitted(original, _)) }
        case _ if chunk.length > 1 => halves(chunk)(analyzeChunk)
        case _ => IndexedSeq(Left(Problem("it is not a scalar expression over the row")))
      }
    } catch {
      case NonFatal(_) if chunk.length > 1 => halves(chunk)(analyzeChunk)
      case NonFatal(e) => IndexedSeq(Left(Problem(firstLine(e))))
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

  /** Analysed expressions made evaluable: what Spark only replaces while it optimises a plan is replaced. */
  def finish(expressions: Seq[Expression]): Seq[Expression] = configured {
    val references = RuleInput(AttributeSet.fromAttributeSets(expressions.map(_.references)).toSeq)
    val finished = session.sessionState.optimizer.FinishAnalysis(project(expressions, references))
    inline(RewriteWithExpression(finished))
  }

  /** The value of an analysed expression without column references, unless it fails. */
  def evaluated(constant: Expression): Option[Any] = constant match {
    case Literal(value, _) => Some(value)
    case _ =>
      try Some(configured(finish(Seq(constant)).head.eval(EmptyRow)))
      catch { case NonFatal(_) => None }
  }

  private def configured[T](body: => T): T = SQLConf.withExistingConf(conf)(body)
}

object Analysis {
  private val ChunkSize = 1000

  /** What a rule may not ask. Spark takes a name such as `user` for a function when there is no such column. */
  private def permitted(original: Expression, analyzed: Expression): Either[Problem, Expression] =
    if (!analyzed.deterministic) Left(Problem("it is not deterministic"))
    else if (!analyzed.exists(_.isInstanceOf[CurrentUser])) Right(analyzed)
    else Left(noColumn(original.collect { case a: UnresolvedAttribute if UserNames(a.name.toLowerCase) => a.name }))

  private val UserNames = Set("user", "current_user", "session_user")

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

  // Common subexpressions come out as projections below: put them back where they are used.
  private def inline(plan: LogicalPlan): Seq[Expression] = plan match {
    case Project(list, Project(lower, child)) =>
      val definitions = AttributeMap(lower.collect { case a: Alias => a.toAttribute -> a.child })
      inline(Project(
        list.map(_.transform { case a: Attribute => definitions.getOrElse(a, a) }.asInstanceOf[NamedExpression]),
        child))
    case Project(list, _) => list.map(unalias)
    case other => throw new IllegalStateException(s"rules were rewritten to something unexpected: ${other.nodeName}")
  }

  private def firstLine(e: Throwable): String =
    Option(e.getMessage).getOrElse(e.toString).linesIterator.map(_.trim).find(_.nonEmpty).getOrElse(e.toString)
}
