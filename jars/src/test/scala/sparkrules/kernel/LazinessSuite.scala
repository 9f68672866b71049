package sparkrules.kernel

import java.util.Random

import sparkrules.Suite
import sparkrules.compile.CompiledRules
import sparkrules.compile.CompiledRules.internalRow
import sparkrules.program.{AllOf, AnyOf, Atom, Rule, Tree}

/**
 * A value that Spark computes is computed at most once per row, and only if a rule needs it. Here it fails in every
 * row, so the number of errors is the number of calls.
 */
final class LazinessSuite extends Suite {
  import LazinessSuite._
  import Rule.Computed

  private def calls(compiled: CompiledRules, rows: Seq[Seq[Any]], top: Int = Int.MaxValue): Long = {
    val runner = new Runner(compiled.program, CompiledRules.inputs, top = top)
    rows.foreach(row => new RowFeed(Array(runner), RowClock.off).row(internalRow(row))(identity))
    runner.codes.errors
  }

  private def checkCalls(
      about: String,
      trees: Seq[Tree],
      rows: Seq[Seq[Any]],
      shares: (Int, Int) => Option[Array[Double]] = (_, _) => None,
      microseconds: Option[Double] = None): Unit = {
    val rules = trees.toIndexedSeq.zipWithIndex.map { case (tree, i) => Rule(s"r$i", 0, tree) }
    val needed = rows.count(isNeeded(trees, _)).toLong
    Seq(false, true).foreach { inBands =>
      val found = calls(new CompiledRules(rules, inBands, shares, microseconds), rows)
      checkEqual(found, needed, s"$about: calls in ${rows.length} rows, $trees")
    }
  }

  private val rows: Seq[Seq[Any]] =
    for (a <- Seq[Any](0, 1, 2, null); b <- Seq(0, 1, 2); s <- Seq("a", "b")) yield Seq(a, b, s, 0.0, true, "x")

  // An attribute whose values are nearly all the highest, or as the slot says.
  private def mostly(code: Int => Int)(slot: Int, codes: Int): Option[Array[Double]] = {
    val shares = Array.fill(codes)(1e-7)
    shares(math.min(code(codes), codes - 1)) = 1
    Some(shares.map(_ / shares.sum))
  }

  private val shapes: Seq[(String, Seq[Tree])] = Seq(
    "behind a predicate" -> Seq(AllOf(Set(A, Call))),
    "behind one that is nearly always true" -> Seq(AllOf(Set(Atom(0, ">=", Seq(1)), Call))),
    "behind several" -> Seq(AllOf(Set(A, Atom(1, ">", Seq(0)), Atom(2, "=", Seq("a")), Call))),
    "in an OR" -> Seq(AllOf(Set(A, AnyOf(Set(B, Call))))),
    "an OR alone" -> Seq(AnyOf(Set(A, B, Call))),
    "nested" -> Seq(AllOf(Set(Atom(2, "<>", Seq("b")), AnyOf(Set(A, AllOf(Set(B, Call))))))),
    "shared, behind the same" -> Seq(
      AllOf(Set(A, Call)), AllOf(Set(A, Atom(Computed, ">", Seq(5)))), AllOf(Set(A, B, Atom(Computed, "<", Seq(0))))),
    "beside rules without it" -> Seq(AllOf(Set(A, Call)), A, B, AllOf(Set(A, B)), Atom(2, "=", Seq("a"))))

  test("what rules do not need is not computed, without statistics") {
    shapes.foreach { case (about, trees) => checkCalls(about, trees, rows) }
  }

  test("nor if statistics say that the predicates before it hardly ever decide") {
    shapes.foreach { case (about, trees) =>
      Seq[Int => Int](_ - 1, _ => 2, _ => 0).foreach(code => checkCalls(about, trees, rows, mostly(code)))
    }
  }

  test("nor if it is expensive, and many rules share it behind predicates of their own") {
    val many = Seq.tabulate(40) { i =>
      AllOf(Set(Atom(i % 2, "=", Seq(i)), Atom(3, ">", Seq(i / 2.0)), Atom(Computed, ">", Seq(i))))
    }
    checkCalls("many", many, rows, microseconds = Some(500))
  }

  test("what is cheap, and shared by so many rules that it costs each of them little, comes first") {
    val many = Seq.tabulate(400)(i => AllOf(Set[Tree](Atom(3, ">", Seq(i / 2.0 - 300)), Atom(Computed, "=", Seq(i)))))
    val rules = many.toIndexedSeq.zipWithIndex.map { case (tree, i) => Rule(s"r$i", 0, tree) }
    def tested(microseconds: Double): Long = {
      val runner = new Runner(new CompiledRules(rules, microseconds = Some(microseconds)).program, CompiledRules.inputs)
      rows.foreach(row => new RowFeed(Array(runner), RowClock.off).row(internalRow(row))(identity))
      runner.tested
    }
    check(tested(0.1) <= 20 * rows.length, s"${tested(0.1)} predicates are tested")
    check(tested(500) > 100 * rows.length, s"only ${tested(500)} predicates are tested before an expensive one")
  }

  test("random rules: never a call where none is needed by a conjunction, and one per row at most") {
    cases(100) { random =>
      val trees = Seq.fill(1 + random.nextInt(20))(randomConjunction(random))
      val some = Seq.fill(30)(Rule.randomRow(random, 4).updated(Computed, "x"))
      checkCalls("random", trees, some, randomShares(random), Some(1000))
    }
  }

  test("random rules of any shape: few calls that none needs") {
    var (made, necessary) = (0L, 0L)
    cases(200) { random =>
      // More than one alternative of an OR may need it, and others may already be true.
      val rules = Rule.randomRules(random, 1 + random.nextInt(4), 3, 4)
      val some = Seq.fill(30)(Rule.randomRow(random, 4).updated(Computed, "x"))
      val needed = some.count(isNeeded(rules.map(_.tree), _))
      val found = calls(new CompiledRules(rules, shares = randomShares(random), microseconds = Some(1000)), some)
      check(found >= needed && found <= some.length, s"$found calls instead of $needed: $rules")
      made += found
      necessary += needed
    }
    check(necessary > 500 && made <= 1.1 * necessary, s"$made calls, of which $necessary are necessary")
  }

  test("with only the first matches wanted, later bands are not asked") {
    // The first band matches every row, so that the only call, in the last band, is not made.
    val rules = IndexedSeq.tabulate(300)(i => Rule(f"r$i%03d", -i, if (i < 299) Atom(4, "is true", Nil) else Call))
    checkEqual(calls(new CompiledRules(rules, inBands = true), rows, top = 1), 0L, "calls")
    checkEqual(calls(new CompiledRules(rules, inBands = true), rows), rows.length.toLong, "calls for all matches")
  }

  private def randomConjunction(random: Random): Tree = {
    def cheap(): Tree = {
      val atom = Rule.randomAtom(random, 4)
      if (atom.attribute == Computed || Set("contains", "startswith", "endswith")(atom.operator)) cheap() else atom
    }
    val parts = Set.fill(random.nextInt(4))(cheap()) + Atom(Computed, Suite.oneOf(random)("=", "<", ">"), Seq(1))
    if (parts.size == 1) parts.head else AllOf(parts)
  }

  private def randomShares(random: Random)(slot: Int, codes: Int): Option[Array[Double]] =
    Option.when(random.nextBoolean) {
      val weights = Array.fill(codes)(math.pow(random.nextDouble, 4))
      weights.map(_ / weights.sum)
    }
}

object LazinessSuite {
  import Rule.Computed

  private val A: Tree = Atom(0, "=", Seq(1))
  private val B: Tree = Atom(1, "=", Seq(2))
  private val Call: Tree = Atom(Computed, "=", Seq(5))

  // What the value could have been, or that it could not be computed.
  private val Values: Seq[Any] = Seq(null, "x", "45") ++ (-1 to 9).map(_.toString)

  /** Whether it depends on the value which of these match. */
  private def isNeeded(trees: Seq[Tree], row: Seq[Any]): Boolean =
    Values.map(value => trees.map(_.isTrue(row.updated(Computed, value)))).distinct.length > 1
}
