package sparkrules.bind

import scala.collection.mutable.ArrayBuffer

import org.apache.spark.sql.catalyst.analysis.{UnresolvedAttribute, UnresolvedFunction}
import org.apache.spark.sql.catalyst.expressions.{Left => _, Right => _, _}
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

import sparkrules.guard.Rejection
import sparkrules.lists.{InList, ListReference}
import sparkrules.store.Segment
import sparkrules.value.{Address, AddressKey, CidrContains, Codes, Keys}

/** A predicate bound to a table: it is true when the code of `slot` lies in one of `intervals` (see [[Codes]]). */
final case class BoundPredicate(slot: Int, intervals: Array[Int])

/**
 * A rule set bound to the columns of a table.
 *
 * @param columns the ordinals of the columns that the rules use: the first inputs of the slots' expressions
 * @param extras the expressions over `row` that the plan below has to compute (Python functions, the query's instant):
 *   the inputs after the columns
 * @param predicates per predicate of the segment: the bound one, or why Spark rejects it
 * @param texts per rule, if rules are to fail as Spark's WHERE would: the slot of its whole text, or -1
 */
final case class Bound(
    row: Seq[Attribute],
    columns: Seq[Int],
    extras: Seq[Expression],
    slots: Array[Slot],
    predicates: Array[Either[Rejection, BoundPredicate]],
    texts: Array[Int])

/**
 * Binds the predicates of a segment to columns. Spark's analyzer decides every coercion. It sees one example of the
 * predicates that it must treat alike, because they differ only in the value of a constant. A comparison of an
 * expression with a constant becomes a set of codes. Spark evaluates anything else.
 */
final class Binder(
    segment: Segment,
    row: Seq[AttributeReference],
    analysis: Analysis,
    missingAsNull: Boolean,
    missingLists: Set[String]) {
  import Binder._

  private val constants = new Constants(segment, analysis)
  private val slots = new Slots(analysis)
  private val rewriting = new Rewriting(analysis)
  private val predicates = new Array[Either[Rejection, () => BoundPredicate]](segment.forest.predicates.size)
  // Per predicate, if its attribute and its constants are accepted.
  private val constantsOf = new Array[Seq[Expression]](predicates.length)

  def bind(strict: Boolean): Bound = {
    val attributes = analyzeTexts(segment.forest.attributes)
    val open = predicates.indices.filter { p =>
      attributes(segment.forest.predicates.attributes(p)) match {
        case Left(rejection) => predicates(p) = Left(rejection); false
        case Right(attribute) =>
          val operator = segment.forest.predicates.operators(p)
          val numbers = segment.forest.predicates.constants(p).toSeq
          val own =
            if (isOfNetwork(operator) || isOfList(operator)) numbers.map(constants(_))
            else constants.comparedWith(attribute, numbers)
          own.collectFirst { case Left(rejection) => rejection } match {
            case Some(rejection) => predicates(p) = Left(rejection); false
            case None =>
              constantsOf(p) = own.flatMap(_.toOption)
              !bindAlone(p, attribute)
          }
      }
    }
    val attribute = (p: Int) => attributes(segment.forest.predicates.attributes(p)).toOption.get
    val (networks, others) = open.partition(p => isOfNetwork(segment.forest.predicates.operators(p)))
    val (listed, comparisons) = others.partition(p => isOfList(segment.forest.predicates.operators(p)))
    bindNetworks(networks, attribute)
    bindLists(listed, attribute)
    bindComparisons(comparisons, attribute)
    val texts = if (strict) bindTexts() else Array.empty[Int]
    slots.bound(row, predicates.map(_.map(_())), texts)
  }

  /** Those of these rules whose whole text Spark accepts. */
  def accepted(rules: Seq[Int]): Seq[Int] =
    rules.zip(analyzeTexts(rules.map(segment.rules.texts(_)).toArray)).collect {
      case (rule, Right(whole)) if whole.dataType == BooleanType => rule
    }

  private def bindTexts(): Array[Int] =
    analyzeTexts(segment.rules.texts).map(_.fold(_ => -1, slots.of)).toArray

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

  /** Binds a predicate without constants; false if it has some. */
  private def bindAlone(p: Int, attribute: Expression): Boolean = segment.forest.predicates.operators(p) match {
    case operator @ ("is null" | "is not null") if !attribute.nullable =>
      // Then Spark does not compute the attribute, even if that would fail.
      truth(p, slots.of(Literal(operator == "is not null")))
      true
    case "is null" | "is not null" => code(p, attribute, Nil); true
    case "is true" | "is false" | "is not true" | "is not false" =>
      attribute.dataType match {
        case BooleanType => code(p, attribute, Nil)
        case NullType => code(p, Cast(attribute, BooleanType), Nil)
        case other => predicates(p) = Left(Rejection(s"a condition of type ${other.sql} is not BOOLEAN"))
      }
      true
    case _ => false
  }

  /** Networks are ranges of the keys of addresses: a row's address is parsed once, and found with one look-up. */
  private def bindNetworks(open: Seq[Int], attribute: Int => Expression): Unit = {
    val groups = open.groupBy(segment.forest.predicates.attributes(_)).values.toIndexedSeq
    analysis.analyze(groups.map(group => AddressKey(CidrContains.plain(attribute(group.head))))).zip(groups).foreach {
      case (Left(rejection), group) => group.foreach(p => predicates(p) = Left(rejection))
      case (Right(key), group) =>
        val slot = slots.of(key)
        group.foreach { p =>
          predicates(p) = constantsOf(p) match {
            case Seq(Literal(text: UTF8String, _: StringType)) => Address.network(text) match {
              case Some((first, last)) =>
                slots.compare(slot, Array(first, last))
                Right { () =>
                  val keys = slots.keys(slot)
                  val inside = Array(keys.codeOf(first), keys.codeOf(last))
                  BoundPredicate(slot, if (isNegative(p)) Codes.others(inside, keys.maxCode) else inside)
                }
              case None => Left(Rejection(s"'$text' is not a network"))
            }
            case other => Left(Rejection(s"${other.map(_.sql).mkString(", ")} is not a network"))
          }
        }
    }
  }

  /** A list is asked once per row for all rules that ask it about an attribute. */
  private def bindLists(open: Seq[Int], attribute: Int => Expression): Unit = open.foreach { p =>
    val found = attribute(p).dataType
    constantsOf(p) match {
      case Seq(Literal(name: UTF8String, _: StringType)) =>
        if (missingLists(name.toString)) {
          predicates(p) = Left(
            Rejection(s"there is no list '$name': put it with RuleSet.put_list('$name', values), or sparkrules list"))
        } else if (found == StringType || found == NullType || Integral(found)) {
          val value = if (found == StringType) attribute(p) else Cast(attribute(p), StringType)
          truth(p, slots.of(InList(value, ListReference(name.toString))))
        } else {
          val text = segment.forest.attributes(segment.forest.predicates.attributes(p))
          predicates(p) = Left(Rejection(
            s"in_list takes a STRING of binary collation or an integer, not ${found.sql}: cast it, as in " +
              s"CAST($text AS STRING)"))
        }
      case other => predicates(p) = Left(Rejection(s"${other.map(_.sql).mkString(", ")} is not the name of a list"))
    }
  }

  private def bindComparisons(open: Seq[Int], attribute: Int => Expression): Unit = {
    val alike = open.groupBy { p =>
      val own = constantsOf(p)
      (segment.forest.predicates.attributes(p), segment.forest.predicates.operators(p), decisive(attribute(p), own))
    }.toIndexedSeq.map(_._2)
    val examples = alike.map { group =>
      val p = group.head
      // One constant of each type is enough for Spark to choose the common type of a long IN list.
      val own = constantsOf(p)
      val distinct = if (standsAlone(attribute(p), own)) own else own.distinctBy(decisive(attribute(p), _))
      (distinct, expression(segment.forest.predicates.operators(p), attribute(p), distinct))
    }
    val analyzed = analysis.analyze(examples.map(_._2))
    val (opaque, rewritten) = (ArrayBuffer.empty[Int], ArrayBuffer.empty[(Int, Expression)])
    alike.indices.foreach { g =>
      analyzed(g) match {
        case Left(rejection) => alike(g).foreach(p => predicates(p) = Left(rejection))
        case Right(example) =>
          val group = attribute(alike(g).head)
          val conversion = new Conversion(examples(g)._1, example, analysis, decisive(group, _))
          val isCoded = Compared.unapply(example).exists(codable)
          val converted = alike(g).map { p =>
            val own = constantsOf(p)
            p -> (if (standsAlone(group, own)) conversion.ownValues else conversion.values(own))
          }
          lazy val isPlain = converted.collectFirst {
            case (_, Some(own)) if !own.contains(null) => rewriting.keeps(conversion.test(own))
          }.getOrElse(true)
          converted.foreach { case (p, values) =>
            (example, values) match {
              case (_, None) => opaque += p
              case (Compared(value), Some(constants)) if isCoded && isPlain => code(p, value, constants)
              case (_, Some(constants)) if isCoded => rewritten += p -> conversion.test(constants)
              case (test: BinaryExpression, Some(Seq(constant))) if isBinaryFunction(test) =>
                val operand = BoundReference(0, test.left.dataType, nullable = true)
                val right = Literal(constant, test.right.dataType)
                truth(p, slots.test(slots.of(test.left), test.withNewChildren(Seq(operand, right))))
              case _ => opaque += p
            }
          }
      }
    }
    rewriting(rewritten.map(_._2).toSeq).zip(rewritten).foreach { case (expression, (p, _)) => rewrite(p, expression) }
    bindOpaque(opaque.toIndexedSeq, attribute)
  }

  /** Whether it is a Boolean function of the attribute and a constant, such as LIKE. */
  private def isBinaryFunction(test: BinaryExpression): Boolean =
    !test.isInstanceOf[BinaryComparison] && test.dataType == BooleanType && test.left.references.nonEmpty

  /** Binds a predicate as what Spark's optimizer has made of it. */
  private def rewrite(p: Int, expression: Expression): Unit = RewrittenPredicate.of(expression) match {
    case Some(rewritten) =>
      val slot = slots.of(rewritten.value)
      slots.compare(slot, rewritten.constants)
      predicates(p) = Right(() => BoundPredicate(slot, rewritten.codes(!isNegative(p), slots.keys(slot))))
    case None => truth(p, slots.of(expression))
  }

  private def codable(value: Expression): Boolean = value.references.nonEmpty && Keys.existFor(value.dataType)

  /** Binds predicates that Spark evaluates itself. */
  private def bindOpaque(open: IndexedSeq[Int], attribute: Int => Expression): Unit = {
    val tests = open.map { p =>
      expression(segment.forest.predicates.operators(p), attribute(p), constantsOf(p))
    }
    open.zip(analysis.analyze(tests)).foreach {
      case (p, Left(rejection)) => predicates(p) = Left(rejection)
      case (p, Right(test)) =>
        test.children.find(c => c.foldable && analysis.evaluated(c).isEmpty) match {
          // Spark computes constants first. One that fails makes the predicate fail for every row.
          case Some(constant) =>
            val slot = slots.of(constant)
            predicates(p) = Right(() => BoundPredicate(slot, Array.empty))
          case None => truth(p, slots.of(test))
        }
    }
  }

  private def code(p: Int, value: Expression, values: Seq[Any]): Unit = {
    val slot = slots.of(value)
    val operator = segment.forest.predicates.operators(p)
    val present = values.filter(_ != null).toArray
    slots.compare(slot, present)
    predicates(p) = Right(() => {
      val keys = slots.keys(slot)
      BoundPredicate(slot, Codes.of(operator, present.map(keys.codeOf), present.length < values.length, keys.maxCode))
    })
  }

  /** Whether the predicate is true where [[Binder.expression]] is false. */
  private def isNegative(p: Int): Boolean = {
    val operator = segment.forest.predicates.operators(p)
    operator.startsWith("not ") || operator == "<>"
  }

  private def truth(p: Int, slot: Int): Unit = {
    val wanted = if (isNegative(p)) "is false" else "is true"
    predicates(p) = Right { () =>
      BoundPredicate(slot, Codes.of(wanted, Array.empty, hasNull = false, slots.keys(slot).maxCode))
    }
  }
}

object Binder {
  private def isOfList(operator: String): Boolean = operator.stripPrefix("not ") == "in list"

  private def isOfNetwork(operator: String): Boolean = operator.stripPrefix("not ") == "in network"

  private val Integral: Set[DataType] = Set(ByteType, ShortType, IntegerType, LongType)

  /** The expression of an operator. That of a negative operator is the positive one, which has to be false. */
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

  /** A comparison: the value on its left-hand side. */
  private object Compared {
    def unapply(test: Expression): Option[Expression] = test match {
      case In(value, _) => Some(value)
      case BinaryComparison(value, _) => Some(value)
      case _ => None
    }
  }

  /** What Spark's coercion of `attribute` with these constants can depend on. */
  private def decisive(attribute: Expression, constants: Seq[Expression]): Seq[Any] =
    if (standsAlone(attribute, constants)) constants else constants.map(decisive(attribute, _)).distinct

  /** Whether Spark treats no other list alike. It loses constants of a list with a NULL when it pads them. */
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
   * What Spark's coercion of `attribute` with `constant` can depend on: the constant's type; for an integral attribute
   * the value of a decimal, which may be rounded to the attribute's type; for a decimal attribute the digits of an
   * integer; for a CHAR(n) the length of a string that is not shorter. An expression stands for itself.
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
