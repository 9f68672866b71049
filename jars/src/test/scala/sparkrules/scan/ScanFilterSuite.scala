package sparkrules.scan

import org.apache.spark.sql.catalyst.expressions.{Expression, In, Literal, Or}

import sparkrules.Suite
import sparkrules.compile.CompiledRules
import sparkrules.program.{AllOf, AnyOf, Atom, Rule, Tree}

/** A scan filter is true for every row that a rule matches, and bounded in size. */
final class ScanFilterSuite extends Suite {

  private val all = Rule.Columns.indices.toSet

  private def part(rules: Seq[Rule]): ScanPart = {
    val compiled = new CompiledRules(rules.toIndexedSeq)
    new ScanPart(compiled.program, compiled.forest, Rule.Columns.indices)
  }

  private def filter(parts: Seq[Rule]*): Either[String, ScanFilter] =
    ScanFilter.of(parts.map(part).toIndexedSeq, parts.map(_.indices.toArray).toIndexedSeq, all, None)

  private def isTrue(filter: ScanFilter, row: Seq[Any]): Boolean =
    filter.condition.eval(CompiledRules.internalRow(row)) == true

  private def checkBounded(filter: ScanFilter): Unit = {
    def disjuncts(condition: Expression): Int = condition match {
      case Or(left, right) => disjuncts(left) + disjuncts(right)
      case _ => 1
    }
    check(disjuncts(filter.condition) <= ScanBounds.Disjuncts, s"${disjuncts(filter.condition)} disjuncts")
    filter.condition.foreach {
      case In(_, values) => check(values.length <= ScanBounds.Values, s"${values.length} values")
      case _ =>
    }
  }

  test("a row that a rule matches passes, whatever the rules and however they are divided into parts") {
    var (filters, matches) = (0, 0)
    cases(600) { random =>
      val limit = 6
      val bound = Rule.randomRules(random, 1 + random.nextInt(6), 2, limit).map { rule =>
        // Most random rules allow no filter: an OR with a value that is computed is enough.
        val either = AnyOf(Set.fill[Tree](2)(Rule.randomAtom(random, limit)))
        if (random.nextBoolean) rule.copy(tree = AllOf(Set(rule.tree, either))) else rule
      }
      val (first, second) = bound.splitAt(random.nextInt(bound.length + 1))
      filter(Seq(first, second).filter(_.nonEmpty): _*).foreach { found =>
        filters += 1
        (0 until 30).foreach { _ =>
          val row = Rule.randomRow(random, limit)
          bound.filter(_.tree.isTrue(row)).foreach { rule =>
            matches += 1
            check(isTrue(found, row), s"$rule matches $row, and ${found.condition.sql} drops it")
          }
        }
      }
    }
    check(filters > 100 && matches > 100, s"$filters filters and $matches matches prove little")
  }

  test("an AND needs one of its parts, an OR all of them") {
    val computed = Atom(Rule.Computed, "=", Seq(1))
    val cheap = Atom(0, "<", Seq(3))
    check(filter(Seq(Rule("or", 0, AnyOf(Set(cheap, computed))))).isLeft, "one alternative needs no column")
    val both = Rule("and", 0, AllOf(Set(cheap, computed)))
    checkEqual(filter(Seq(both)).map(_.condition.toString), Right("(input[0, int, true] < 3)"), "the filter of an AND")
  }

  test("a wide predicate stands for narrower ones, and rules of other parts are united with it") {
    def below(id: String, limit: Int) = Rule(id, 0, Atom(0, "<", Seq(limit)))
    checkEqual(
      filter(Seq(below("a", 7), below("b", 20)), Seq(below("c", 9))).map(_.condition.toString),
      Right("(input[0, int, true] < 20)"), "one comparison")
  }

  test("what never matches needs nothing") {
    val never = AllOf(Set(Atom(0, "<", Seq(3)), Atom(0, ">", Seq(5))))
    checkEqual(filter(Seq(Rule("never", 0, never))).map(_.condition), Right(Literal.FalseLiteral), "the filter")
  }

  test("NaN is above every number for Spark, but not for the statistics of sources") {
    check(filter(Seq(Rule("above", 0, Atom(3, ">", Seq(5.0))))).isLeft, "a lower bound alone")
    check(filter(Seq(Rule("below", 0, Atom(3, "<", Seq(5.0))))).isRight, "an upper bound")
    val between = AllOf(Set(Atom(3, ">", Seq(5.0)), Atom(3, "<", Seq(9.0))))
    check(filter(Seq(Rule("between", 0, between))).isRight, "both")
  }

  test("many rules make a filter of bounded size") {
    val many = (0 until 20000).map { i =>
      val (low, high) = (Atom(1, ">", Seq(i % 5000)), Atom(1, "<", Seq(i % 5000 + 3)))
      Rule(s"r$i", 0, AllOf(Set(Atom(0, "=", Seq(i * 7)), low, high)))
    }
    val found = filter(many).getOrElse(throw new AssertionError("no filter"))
    val size = found.condition.collect { case literal: Literal => literal }.length
    check(size <= 2100, s"$size constants")
    checkBounded(found)
    Seq(0, 777, 19999).foreach { i =>
      val row = Rule.Columns.indices.map { case 0 => i * 7; case 1 => i % 5000 + 1; case _ => null }
      check(isTrue(found, row), s"$row")
    }
  }

  test("the ranges between many constants are few ranges") {
    val found = filter(Seq(Rule("none", 0, Atom(0, "not in", (0 until 20000).map(_ * 3)))))
      .getOrElse(throw new AssertionError("no filter"))
    val disjuncts = 1 + found.condition.collect { case or: Or => or }.length
    check(disjuncts <= 32, s"$disjuncts disjuncts")
    Seq(-5, 1, 2, 4000, 59999, 200000).foreach { value =>
      check(isTrue(found, Rule.Columns.indices.map(c => if (c == 0) value else null)), s"$value is dropped")
    }
  }

  test("many short ranges, of which none has a value that a rule names, make a filter of bounded size") {
    val many = (0 until 3000).map { i =>
      Rule(s"r$i", 0, AllOf(Set(Atom(0, ">", Seq(10 * i)), Atom(0, "<", Seq(10 * i + 2)))))
    }
    val found = filter(many).getOrElse(throw new AssertionError("no filter"))
    checkBounded(found)
    check(isTrue(found, Rule.Columns.indices.map { case 0 => 29991; case _ => null }), "a row that matches passes")
  }
}
