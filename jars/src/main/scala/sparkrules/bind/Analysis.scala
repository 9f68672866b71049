package sparkrules.bind

import scala.collection.mutable.ArrayBuffer
import scala.util.control.NonFatal

import org.apache.spark.sql.catalyst.analysis.{SQLFunctionExpression, UnresolvedAttribute}
import org.apache.spark.sql.catalyst.expressions.{Left => _, Right => _, _}
import org.apache.spark.sql.catalyst.optimizer.RewriteWithExpression
import org.apache.spark.sql.catalyst.plans.logical.{LeafNode, LogicalPlan, Project}
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.NumericType
import org.apache.spark.unsafe.types.UTF8String

import sparkrules.guard._
import sparkrules.spark.SparkMinor

/** Stands for the row that rules are evaluated on, so that Spark's analyzer accepts them. */
final case class RuleInput(output: Seq[Attribute]) extends LeafNode

/**
 * Spark's parser and analyzer, and the steps of its optimizer that correctness needs, for many expressions at a time.
 *
 * @param isLocal whether Spark evaluates WHERE before it optimises; see [[Local]]
 */
final class Analysis(session: SparkSession, conf: SQLConf, input: RuleInput, val isLocal: Boolean = false) {
  import Analysis._

  private val deadline = new Deadline(session, conf)

  def parse(sql: String): Either[Rejection, Expression] = ParserRisks.of(sql).toLeft(()).flatMap { _ =>
    try {
      val expression = if (sql.length < Short) configured(parsed(sql)) else deadline.one(sql.length)(parsed(sql))
      Options.rejection(expression).map(Rejection(_)).toLeft(Documents.guarded(expression))
    } catch {
      case e: TooSlow => Left(excessive(e))
      case NonFatal(e) => Left(Rejection(firstLine(e)))
      case _: StackOverflowError => Left(TooDeep)
    }
  }

  /** Whether the parser replaces escapes in strings. */
  def unescapes: Boolean = !conf.escapedStringLiterals

  private def parsed(sql: String): Expression = session.sessionState.sqlParser.parseExpression(sql)

  /** Each expression resolved and coerced, or the reason why Spark rejects it. */
  def analyze(expressions: IndexedSeq[Expression]): IndexedSeq[Either[Rejection, Expression]] = {
    val excessive = new ConstantArguments(analyzeFreely(_), valueOf).excessive(expressions)
    val analyzed = analyzeFreely(expressions.filterNot(excessive.contains)).iterator
    expressions.map(e => excessive.get(e).fold(analyzed.next())(Left(_)))
  }

  private def analyzeFreely(expressions: IndexedSeq[Expression]): IndexedSeq[Either[Rejection, Expression]] =
    chunked(expressions)(analyzeChunk)

  // An expression on which the analyzer throws fails its whole chunk: halve the chunk until it stands alone. To find
  // the slow ones in halves would take the time of a deadline for each.
  private def analyzeChunk(chunk: IndexedSeq[Expression]): IndexedSeq[Either[Rejection, Expression]] = {
    def alone(rejection: => Rejection) = Option.when(chunk.length == 1)(IndexedSeq(Left(rejection)))
    val all =
      try within(chunk)(analyzed(chunk)).orElse(alone(Rejection("it is not a scalar expression over the row")))
      catch {
        case e: TooSlow => alone(excessive(e)).orElse(Some(chunk.flatMap(e => analyzeChunk(IndexedSeq(e)))))
        case NonFatal(e) => alone(Rejection(firstLine(e)))
        case _: StackOverflowError => alone(TooDeep)
      }
    all.getOrElse(halves(chunk)(analyzeChunk))
  }

  private def analyzed(chunk: IndexedSeq[Expression]): Option[IndexedSeq[Either[Rejection, Expression]]] =
    inlined(session.sessionState.analyzer.execute(project(chunk, input))).flatMap { analyzed =>
      // Functions written in SQL are expanded only where all expressions of a projection are accepted.
      val isOpen = chunk.length > 1 && analyzed.exists(_.exists(_.isInstanceOf[SQLFunctionExpression]))
      Option.when(!isOpen && analyzed.length == chunk.length) {
        val all = if (isAccepted(analyzed)) analyzed.map(Right(_)) else analyzed.map(accepted)
        chunk.zip(all).map { case (original, result) => result.flatMap(permitted(original, _)) }
      }
    }

  private def isAccepted(analyzed: Seq[Expression]): Boolean =
    try { check(analyzed); true }
    catch { case NonFatal(_) => false }

  private def accepted(analyzed: Expression): Either[Rejection, Expression] = {
    val missing = analyzed.collect { case a: UnresolvedAttribute => a.name }
    if (missing.nonEmpty) Left(noColumn(missing))
    else {
      try { check(Seq(analyzed)); Right(analyzed) }
      catch { case NonFatal(e) => Left(Rejection(firstLine(e))) }
    }
  }

  private def check(analyzed: Seq[Expression]): Unit =
    session.sessionState.analyzer.checkAnalysis(project(analyzed, input))

  /**
   * Analysed expressions as Spark would evaluate them. The optimizer decides what is evaluated at all, and so what can
   * fail: `CASE WHEN a / 0 > 1 THEN true ELSE true END` is true.
   */
  def finish(expressions: Seq[Expression]): Seq[Expression] = chunked(expressions.toIndexedSeq)(optimizeChunk)

  private def optimizeChunk(chunk: IndexedSeq[Expression]): IndexedSeq[Expression] =
    try within(chunk) {
      val constant = evaluable(chunk).map(folded)
      if (isLocal) constant
      else inlined(session.sessionState.optimizer.execute(project(constant, inputOf(constant)))).get
    } catch {
      case _: TooSlow if chunk.length > 1 => chunk.flatMap(e => optimizeChunk(IndexedSeq(e)))
      case NonFatal(_) | _: StackOverflowError if chunk.length > 1 => halves(chunk)(optimizeChunk)
      case e @ (NonFatal(_) | _: StackOverflowError) =>
        // An expression on which the optimizer fails stays as it is.
        try within(chunk)(evaluable(chunk).map(folded))
        catch { case NonFatal(_) | _: StackOverflowError => chunk.map(Failing.of(_, e)) }
    }

  /** Only what correctness needs: replaces what Spark replaces while it optimises a plan. */
  private def evaluable(expressions: Seq[Expression]): IndexedSeq[Expression] = {
    val finished = session.sessionState.optimizer.FinishAnalysis(project(expressions, inputOf(expressions)))
    inlined(RewriteWithExpression(finished)).get
  }

  /** Computes constants as Spark's optimizer does, but within bounds. */
  private def folded(expression: Expression): Expression = expression match {
    case literal: Literal => literal
    case constant if constant.foldable && constant.references.isEmpty => computed(constant)
    case other => other.mapChildren(folded)
  }

  private def computed(constant: Expression): Expression =
    try Literal.create(Metering(constant).eval(EmptyRow), constant.dataType)
    catch { case e @ (NonFatal(_) | _: StackOverflowError | _: OutOfMemoryError) => Failing.of(constant, e) }

  private def inputOf(expressions: Seq[Expression]): RuleInput =
    RuleInput(AttributeSet.fromAttributeSets(expressions.map(_.references)).toSeq)

  /** The value of an analysed expression without columns; None if it fails. */
  def evaluated(constant: Expression): Option[Any] = valueOf(constant).toOption

  /** The values of many. */
  def evaluated(constants: IndexedSeq[Expression]): IndexedSeq[Option[Any]] = chunked(constants) { chunk =>
    try configured(evaluable(chunk).map(computed)).map {
      case Literal(value, _) => Some(value)
      case _ => None
    } catch { case NonFatal(_) | _: StackOverflowError => chunk.map(evaluated(_)) }
  }

  private def valueOf(constant: Expression): Either[Throwable, Any] = constant match {
    case Literal(value, _) => Right(value)
    case _ =>
      // A list of 100,000 constants is converted one by one. Casts to numbers need no optimizer, unlike that of 'now'
      // to a date.
      val isPlain = constant match {
        case cast: Cast => cast.child.isInstanceOf[Literal] && cast.dataType.isInstanceOf[NumericType]
        case _ => false
      }
      try {
        configured(computed(if (isPlain) constant else evaluable(Seq(constant)).head)) match {
          case Literal(value, _) => Right(value)
          case Failing(_, _, reason) => Left(reason)
          case _ => Left(new IllegalArgumentException("not a constant"))
        }
      } catch { case e @ (NonFatal(_) | _: StackOverflowError) => Left(e) }
  }

  private def within[T](chunk: IndexedSeq[Expression])(work: => T): T = chunk match {
    case Seq(one) => deadline.one(lengthOf(one))(work)
    case many => deadline.many(many.length)(work)
  }

  private def configured[T](body: => T): T = SQLConf.withExistingConf(conf)(body)
}

object Analysis {
  private val ChunkSize = 1000
  // Texts and expressions that are worth a deadline of their own.
  private val Short = 4000
  private def excessive(e: TooSlow): Rejection = Rejection(e.getMessage, isExcessive = true)
  private val TooDeep = Rejection("it is nested too deeply for Spark")

  /**
   * Rejects what a rule must not use. Python has checked its text, but anyone who can write to the store can write
   * anything. If there is no column of that name, Spark takes a name such as `user` for a function, and any other for a
   * variable of the session.
   */
  private def permitted(original: Expression, analyzed: Expression): Either[Rejection, Expression] =
    analyzed.collectFirst(forbidden.orElse(Function.unlift(Options.rejectionOf))) match {
      case Some(reason) => Left(Rejection(reason))
      case None if !analyzed.deterministic => Left(Rejection("it is not deterministic"))
      case None =>
        val variables = analyzed.collect { case v: VariableReference => v.originalNameParts }
        val isUser = analyzed.exists(_.isInstanceOf[CurrentUser])
        val missing = original.collect {
          case a: UnresolvedAttribute if variables.contains(a.nameParts) => a.name
          case a: UnresolvedAttribute if isUser && UserNames(a.name.toLowerCase) => a.name
        }
        if (missing.nonEmpty) Left(noColumn(missing))
        else if (isUser || variables.nonEmpty) Left(Rejection(Environment))
        else Right(Documents.guarded(analyzed))
    }

  private val UserNames = Set("user", "current_user", "session_user")
  private val Environment = "it reveals the environment of the query"

  private val forbidden: PartialFunction[Expression, String] = {
    case _: PlanExpression[_] => "it contains a subquery"
    case _: CallMethodViaReflection => "it calls a method of Java"
    case _: RaiseError => "it exists to fail the query"
    case _: RuleCall => "it matches rules itself"
    case _: InputFileName | _: InputFileBlockStart | _: InputFileBlockLength => "it asks for the file that is read"
    case _: CurrentDatabase | _: CurrentCatalog | _: SparkVersion => Environment
    case other if SparkMinor.isCurrentPath(other) => Environment
  }

  private def noColumn(names: Seq[String]): Rejection =
    Rejection(s"there is no column ${names.distinct.mkString(", ")}", names.distinct)

  /** In groups; a long expression alone. */
  private def chunked[B](all: IndexedSeq[Expression])(f: IndexedSeq[Expression] => IndexedSeq[B]): IndexedSeq[B] = {
    val results = ArrayBuffer.empty[B]
    var chunk = Vector.empty[Expression]
    def flush(): Unit = if (chunk.nonEmpty) { results ++= f(chunk); chunk = Vector.empty }
    all.foreach { e =>
      val isLong = lengthOf(e) > Short
      if (isLong || chunk.length == ChunkSize) flush()
      chunk :+= e
      if (isLong) flush()
    }
    flush()
    results.toIndexedSeq
  }

  private def lengthOf(expression: Expression): Long = {
    var length = 0L
    expression.foreach {
      case Literal(text: UTF8String, _) => length += text.numBytes
      case _ => length += 10
    }
    length
  }

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
