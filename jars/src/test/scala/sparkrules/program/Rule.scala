package sparkrules.program

import java.util.Random

import org.apache.spark.sql.types._

import sparkrules.Suite.oneOf

/** A rule as tests write it: without nodes, codes or slots. Instants are in microseconds. */
final case class Rule(id: String, priority: Int, tree: Tree, from: Option[Long] = None, until: Option[Long] = None)

/** A condition, evaluated as SQL would. NULL is `null`. */
sealed abstract class Tree {
  def isTrue(row: Seq[Any]): Boolean

  /** This tree and all below it. */
  def all: Set[Tree]
}

final case class AllOf(parts: Set[Tree]) extends Tree {
  def isTrue(row: Seq[Any]): Boolean = parts.forall(_.isTrue(row))
  def all: Set[Tree] = parts.flatMap(_.all) + this
}

final case class AnyOf(parts: Set[Tree]) extends Tree {
  def isTrue(row: Seq[Any]): Boolean = parts.exists(_.isTrue(row))
  def all: Set[Tree] = parts.flatMap(_.all) + this
}

/** @param attribute its place in [[Rule.Attributes]] */
final case class Atom(attribute: Int, operator: String, constants: Seq[Any]) extends Tree {
  def all: Set[Tree] = Set(this)

  def isTrue(row: Seq[Any]): Boolean = Rule.valueOf(attribute, row).exists { value =>
    def compared(is: Int => Boolean): Boolean =
      value != null && constants.head != null && is(Rule.compare(value, constants.head))
    operator match {
      case "is null" => value == null
      case "is not null" => value != null
      case "<=>" => if (value == null) constants.head == null else compared(_ == 0)
      case "not <=>" => if (value == null) constants.head != null else !compared(_ == 0)
      case "=" => compared(_ == 0)
      case "<>" => compared(_ != 0)
      case "<" => compared(_ < 0)
      case "<=" => compared(_ <= 0)
      case ">" => compared(_ > 0)
      case ">=" => compared(_ >= 0)
      case "in" => value != null && constants.exists(c => c != null && Rule.compare(value, c) == 0)
      case "not in" => value != null && constants.forall(c => c != null && Rule.compare(value, c) != 0)
      case "is true" => value == true
      case "is not true" => value != true
      case "is false" => value == false
      case "is not false" => value != false
      case "contains" => value != null && value.asInstanceOf[String].contains(constants.head.asInstanceOf[String])
      case "startswith" => value != null && value.asInstanceOf[String].startsWith(constants.head.asInstanceOf[String])
      case "endswith" => value != null && value.asInstanceOf[String].endsWith(constants.head.asInstanceOf[String])
    }
  }
}

object Rule {

  /** The columns of a row. */
  val Columns: Seq[(String, DataType)] =
    Seq("a" -> IntegerType, "b" -> IntegerType, "s" -> StringType, "d" -> DoubleType, "f" -> BooleanType,
      "t" -> StringType)

  /**
   * The attributes of rules: all columns but the last, and the last as an integer, which fails for some of its texts.
   */
  val Attributes: Seq[String] = Columns.init.map(_._1) :+ "cast(t as int)"
  val Text = 2
  val Flag = 4
  val Computed = 5

  /** The value of an attribute; None if it cannot be computed. */
  def valueOf(attribute: Int, row: Seq[Any]): Option[Any] = row(attribute) match {
    case text: String if attribute == Computed => text.toIntOption
    case value => Some(value)
  }

  /** As Spark does: -0.0 equals 0.0, and NaN is equal to itself and above everything. */
  def compare(a: Any, b: Any): Int = (a, b) match {
    case (x: Int, y: Int) => x.compare(y)
    case (x: String, y: String) => x.compareTo(y) // all are ASCII
    case (x: Boolean, y: Boolean) => x.compare(y)
    case (x: Double, y: Double) => if (x == y) 0 else java.lang.Double.compare(x, y)
    case other => throw new AssertionError(s"$other cannot be compared")
  }

  private val Texts = Seq("", "a", "b", "ab", "abc", "bca", "cab", "abab")
  private val Comparisons = Seq("=", "<>", "<", "<=", ">", ">=", "<=>", "not <=>")

  /** A value of a column, or null; one of few, so that rules match now and then. */
  def randomValue(random: Random, column: Int, limit: Int): Any =
    if (random.nextInt(8) == 0) null
    else column match {
      case 0 | 1 => random.nextInt(limit)
      case Text => oneOf(random)(Texts: _*)
      case 3 => oneOf(random)(0.0, -0.0, Double.NaN, 1.5, -2.0, Double.PositiveInfinity, random.nextInt(limit).toDouble)
      case Flag => random.nextBoolean
      case _ => oneOf(random)("1", "2", "3", "x", "")
    }

  def randomRow(random: Random, limit: Int): Seq[Any] = Columns.indices.map(randomValue(random, _, limit))

  def randomAtom(random: Random, limit: Int): Atom = {
    val attribute = random.nextInt(Attributes.length)
    def constant(): Any = attribute match {
      case Computed => if (random.nextInt(8) == 0) null else random.nextInt(4)
      case _ => randomValue(random, attribute, limit)
    }
    random.nextInt(6) match {
      case 0 => Atom(attribute, oneOf(random)("is null", "is not null"), Nil)
      case 1 => Atom(attribute, oneOf(random)("in", "not in"), Seq.fill(1 + random.nextInt(4))(constant()))
      case 2 if attribute == Text =>
        Atom(attribute, oneOf(random)("contains", "startswith", "endswith"), Seq(oneOf(random)(Texts.tail: _*)))
      case _ if attribute == Flag =>
        Atom(attribute, oneOf(random)("is true", "is not true", "is false", "is not false"), Nil)
      case _ => Atom(attribute, oneOf(random)(Comparisons: _*), Seq(constant()))
    }
  }

  /** @param known trees that rules have already: some are taken again, so that rules share them */
  def randomTree(random: Random, depth: Int, limit: Int, known: IndexedSeq[Tree]): Tree =
    if (known.nonEmpty && random.nextInt(4) == 0) known(random.nextInt(known.length))
    else if (depth == 0 || random.nextInt(4) == 0) randomAtom(random, limit)
    else {
      val parts = Set.fill(2 + random.nextInt(3))(randomTree(random, depth - 1, limit, known))
      if (parts.size == 1) parts.head else if (random.nextInt(3) < 2) AllOf(parts) else AnyOf(parts)
    }

  def randomRules(random: Random, count: Int, depth: Int, limit: Int): IndexedSeq[Rule] = {
    val known = scala.collection.mutable.ArrayBuffer.empty[Tree]
    IndexedSeq.tabulate(count) { i =>
      val tree = randomTree(random, depth, limit, known.toIndexedSeq)
      if (known.length < 20) known ++= tree.all
      Rule(s"${random.nextInt(100)}-$i", random.nextInt(3), tree)
    }
  }

  /** Rules in the order in which they are reported: highest priority first, then by id. */
  def ordered(rules: Seq[Rule]): Seq[Rule] = rules.sortBy(rule => (-rule.priority, rule.id))
}
