package sparkrules.bind

import scala.collection.mutable.ArrayBuffer

import org.apache.spark.sql.catalyst.analysis.{UnresolvedAttribute, UnresolvedFunction}
import org.apache.spark.sql.catalyst.expressions.{Left => _, Right => _, _}
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

import sparkrules.guard.Rejection
import sparkrules.store.Segment
import sparkrules.text.Search
import sparkrules.value.{Codes, Keys}

/** A predicate bound to a table: it is true when the code of `slot` lies in one of `intervals` (see [[Codes]]). */
final case class BoundPredicate(slot: Int, intervals: Array[Int])

/**
 * A rule set bound to the columns of a table.
 *
 * @param columns the ordinals of the columns that the rules use: the first inputs of the slots' expressions
 * @param extras what must be computed by the plan below instead (Python functions, the query's instant), over
 *   `row`; the inputs after the columns
 * @param predicates per predicate: its leaf, or why Spark does not accept it
 * @param texts per subscription, if rules are to fail as Spark's WHERE would: the slot of its whole text, or -1
 */
final case class Bound(
    row: Seq[Attribute],
    columns: Seq[Int],
    extras: Seq[Expression],
    slots: Array[Slot],
    predicates: Array[Either[Rejection, BoundPredicate]],
    texts: Array[Int])

/**
 * Binds the predicates of a segment to columns. Spark's own analyzer decides every coercion: for one representative of
 * the predicates that it must treat alike, because only the value of a constant differs. What comes back as a
 * comparison of an expression with a constant is coded; anything else is evaluated by Spark's own expression.
 */
final class Binder(segment: Segment, row: Seq[AttributeReference], analysis: Analysis, missingAsNull: Boolean) {
  import Binder._

  private val constants = new Constants(segment, analysis)
  private val slots = new Slots(analysis)
  private val rewriting = new Rewriting(analysis)
  private val leaves = new Array[Either[Rejection, () => BoundPredicate]](segment.predicateOperators.length)

  def bind(strict: Boolean): Bound = {
    val attributes = analyzeTexts(segment.attributes)
    val open = leaves.indices.filter { p =>
      attributes(segment.predicateAttributes(p)) match {
        case Left(rejection) => leaves(p) = Left(rejection); false
        case Right(attribute) => constantsOf(p).left.toOption match {
          case Some(rejection) => leaves(p) = Left(rejection); false
          case None => !bindTest(p, attribute)
        }
      }
    }
    bindComparisons(open, p => attributes(segment.predicateAttributes(p)).toOption.get)
    val texts = if (strict) bindTexts() else Array.empty[Int]
    slots.bound(row, leaves.map(_.map(_())), texts)
  }

  /** Those of these subscriptions whose whole text Spark accepts. */
  def accepted(subscriptions: Seq[Int]): Seq[Int] =
    subscriptions.zip(analyzeTexts(subscriptions.map(segment.ruleTexts(_)).toArray)).collect {
      case (s, Right(condition)) if condition.dataType == BooleanType => s
    }

  private def bindTexts(): Array[Int] =
    analyzeTexts(segment.ruleTexts).map(_.fold(_ => -1, slots.of)).toArray

  private def analyzeTexts(texts: Array[String]): IndexedSeq[Either[Rejection, Expression]] = {
    val parsed = texts.toIndexedSeq.map(analysis.parse)
    val analyzed = analyzeRights(parsed)
    if (!missingAsNull) analyzed
    else {
      val nulled = parsed.zip(analyzed).map {
        case (Right(expression), Left(Rejection(_, missing, _))) if missing.nonEmpty =>
          Right(expression.transform { case a: UnresolvedAttribute if missing.contains(a.name) => Literal(null) })
        case (_, Left(rejection)) => Left(rejection)
        case (_, Right(expression)) => Right(expression)
      }
      analyzeRights(nulled)
    }
  }

  private def analyzeRights(
      all: IndexedSeq[Either[Rejection, Expression]]): IndexedSeq[Either[Rejection, Expression]] = {
    val analyzed = analysis.analyze(all.flatMap(_.toOption)).iterator
    all.map(_.flatMap(_ => analyzed.next()))
  }

  private def constantsOf(p: Int): Either[Rejection, Seq[Expression]] = {
    val all = segment.predicateConstants(p).toSeq.map(constants(_))
    all.collectFirst { case Left(rejection) => Left(rejection) }.getOrElse(Right(all.flatMap(_.toOption)))
  }

  /** Tests without a constant. */
  private def bindTest(p: Int, attribute: Expression): Boolean = segment.predicateOperators(p) match {
    case operator @ ("is null" | "is not null") if !attribute.nullable =>
      // Spark does not compute it then, even if that would fail.
      truth(p, slots.of(Literal(operator == "is not null")))
      true
    case "is null" | "is not null" => code(p, attribute, Nil); true
    case "is true" | "is false" | "is not true" | "is not false" =>
      attribute.dataType match {
        case BooleanType => code(p, attribute, Nil)
        case NullType => code(p, Cast(attribute, BooleanType), Nil)
        case other => leaves(p) = Left(Rejection(s"a condition of type ${other.sql} is not BOOLEAN"))
      }
      true
    case _ => false
  }

  private def bindComparisons(open: Seq[Int], attribute: Int => Expression): Unit = {
    val alike = open.groupBy { p =>
      val own = constantsOf(p).toOption.get
      (segment.predicateAttributes(p), segment.predicateOperators(p), decisive(attribute(p), own))
    }.toIndexedSeq.map(_._2)
    val examples = alike.map { group =>
      val p = group.head
      // One constant of each type is enough for Spark to choose the common type of a long IN list.
      val own = constantsOf(p).toOption.get
      val distinct = if (standsAlone(attribute(p), own)) own else own.distinctBy(decisive(attribute(p), _))
      (distinct, expression(segment.predicateOperators(p), attribute(p), distinct))
    }
    val analyzed = analysis.analyze(examples.map(_._2))
    val (opaque, rewritten) = (ArrayBuffer.empty[Int], ArrayBuffer.empty[(Int, Expression)])
    alike.indices.foreach { g =>
      analyzed(g) match {
        case Left(rejection) => alike(g).foreach(p => leaves(p) = Left(rejection))
        case Right(example) =>
          val group = attribute(alike(g).head)
          val conversion = new Conversion(examples(g)._1, example, analysis, decisive(group, _))
          val isCoded = Compared.unapply(example).exists(codable)
          val converted = alike(g).map { p =>
            val own = constantsOf(p).toOption.get
            p -> (if (standsAlone(group, own)) conversion.ownValues else conversion.values(own))
          }
          lazy val isPlain = converted.collectFirst {
            case (_, Some(own)) if !own.contains(null) => rewriting.leaves(conversion.test(own))
          }.getOrElse(true)
          converted.foreach { case (p, values) =>
            (example, values) match {
              case (_, None) => opaque += p
              case (Compared(value), Some(constants)) if isCoded && isPlain => code(p, value, constants)
              case (_, Some(constants)) if isCoded => rewritten += p -> conversion.test(constants)
              case (test: BinaryExpression, Some(Seq(constant))) if isTest(test) =>
                val operand = BoundReference(0, test.left.dataType, nullable = true)
                val sought = Literal(Binder.sought(test, constant), test.right.dataType)
                truth(p, slots.test(slots.of(test.left), test.withNewChildren(Seq(operand, sought))))
              case _ => opaque += p
            }
          }
      }
    }
    rewriting(rewritten.map(_._2).toSeq).zip(rewritten).foreach { case (condition, (p, _)) => rewrite(p, condition) }
    bindOpaque(opaque.toIndexedSeq, attribute)
  }

  private def isTest(test: BinaryExpression): Boolean =
    !test.isInstanceOf[BinaryComparison] && test.dataType == BooleanType && test.left.references.nonEmpty

  /** Binds a predicate as what Spark's optimizer has made of it. */
  private def rewrite(p: Int, condition: Expression): Unit = CodedCondition.of(condition) match {
    case Some(coded) =>
      val slot = slots.of(coded.value)
      slots.compare(slot, coded.constants)
      leaves(p) = Right(() => BoundPredicate(slot, coded.codes(!isNegative(p), slots.keys(slot))))
    case None => truth(p, slots.of(condition))
  }

  private def codable(value: Expression): Boolean = value.references.nonEmpty && Keys.hold(value.dataType)

  /** Predicates that have no form of ours: Spark evaluates each as it is. */
  private def bindOpaque(open: IndexedSeq[Int], attribute: Int => Expression): Unit = {
    val tests = open.map(p => expression(segment.predicateOperators(p), attribute(p), constantsOf(p).toOption.get))
    open.zip(analysis.analyze(tests)).foreach {
      case (p, Left(rejection)) => leaves(p) = Left(rejection)
      case (p, Right(test)) =>
        test.children.find(c => c.foldable && analysis.evaluated(c).isEmpty) match {
          // Spark computes constants first: one that fails makes the test fail, whatever the row.
          case Some(constant) =>
            leaves(p) = Right({ val slot = slots.of(constant); () => BoundPredicate(slot, Array.empty) })
          case None => truth(p, slots.of(test))
        }
    }
  }

  private def code(p: Int, value: Expression, values: Seq[Any]): Unit = {
    val slot = slots.of(value)
    val operator = segment.predicateOperators(p)
    val present = values.filter(_ != null).toArray
    slots.compare(slot, present)
    leaves(p) = Right(() => {
      val keys = slots.keys(slot)
      BoundPredicate(slot, Codes.of(operator, present.map(keys.codeOf), present.length < values.length, keys.maxCode))
    })
  }

  /** Whether the predicate is true where its test (see [[Binder.expression]]) is false. */
  private def isNegative(p: Int): Boolean =
    segment.predicateOperators(p).startsWith("not ") || segment.predicateOperators(p) == "<>"

  private def truth(p: Int, slot: Int): Unit = {
    val wanted = if (isNegative(p)) "is false" else "is true"
    leaves(p) =
      Right(() => BoundPredicate(slot, Codes.of(wanted, Array.empty, hasNull = false, slots.keys(slot).maxCode)))
  }
}

object Binder {
  private val Integral: Set[DataType] = Set(ByteType, ShortType, IntegerType, LongType)

  /** The test that an operator makes; operators that want it to be false give the test itself. */
  private def expression(operator: String, attribute: Expression, constants: Seq[Expression]): Expression =
    operator.stripPrefix("not ") match {
      case "=" | "<>" => EqualTo(attribute, constants.head)
      case "<" => LessThan(attribute, constants.head)
      case "<=" => LessThanOrEqual(attribute, constants.head)
      case ">" => GreaterThan(attribute, constants.head)
      case ">=" => GreaterThanOrEqual(attribute, constants.head)
      case "<=>" => EqualNullSafe(attribute, constants.head)
      case "in" => In(attribute, constants)
      case name => UnresolvedFunction(name, attribute +: constants, isDistinct = false)
    }

  private def sought(test: Expression, constant: Any): Any = (test, constant) match {
    case (_: RLike, pattern: UTF8String) => Search.of(pattern)
    case _ => constant
  }

  /** The value that is compared with constants on its right-hand side. */
  private object Compared {
    def unapply(test: Expression): Option[Expression] = test match {
      case In(value, _) => Some(value)
      case BinaryComparison(value, _) => Some(value)
      case _ => None
    }
  }

  /** What Spark's coercion of `attribute` with these constants may depend on. */
  private def decisive(attribute: Expression, constants: Seq[Expression]): Seq[Any] =
    if (standsAlone(attribute, constants)) constants else constants.map(decisive(attribute, _)).distinct

  /** Whether no other list is treated alike. Spark loses constants of a list with a NULL when it pads them. */
  private def standsAlone(attribute: Expression, constants: Seq[Expression]): Boolean =
    constants.length > 1 && lengthOf(attribute).isDefined && constants.exists {
      case Literal(null, _) => true
      case literal => !literal.isInstanceOf[Literal]
    }

  private def lengthOf(attribute: Expression): Option[Int] = attribute match {
    case column: Attribute => Column.charLength(column)
    case _ => None
  }

  /**
   * What Spark's coercion of `attribute` with `constant` may depend on. Its type; for an integral attribute the value
   * of a decimal, which may be rounded to the attribute's type; for a decimal attribute the digits of an integer; for a
   * CHAR(n) the length of a text that is not shorter. A constant that is an expression stands for itself.
   */
  private def decisive(attribute: Expression, constant: Expression): Any = constant match {
    case Literal(value, dataType) =>
      (attribute.dataType, dataType) match {
        case (attributeType, _: DecimalType) if Integral(attributeType) => (dataType, value)
        case (_: DecimalType, _) if Integral(dataType) => (dataType, value.toString.length)
        case (_: StringType, _: StringType) if value != null && lengthOf(attribute).isDefined =>
          (dataType, math.max(value.asInstanceOf[UTF8String].numChars, lengthOf(attribute).get - 1))
        case _ => dataType
      }
    case other => other.canonicalized
  }
}
