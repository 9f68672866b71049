package sparkrules.kernel

import java.util.Random

import sparkrules.Suite
import sparkrules.compile.CompiledRules
import sparkrules.compile.CompiledRules.internalRow
import sparkrules.program.{AllOf, AnyOf, Atom, Hidden, Rule, Tree}

/** Compiled rules, run over rows, against evaluating the tree of each rule. */
final class RunnerSuite extends Suite {

  private def feed(runner: Runner): RowFeed = new RowFeed(Array(runner), RowClock.off)

  private def matching(runner: Runner): Seq[Int] = runner.found.inOrder.take(runner.found.count).toSeq

  /** Runs rows as a task does. */
  private def run(runner: Runner, rows: Seq[Seq[Any]])(see: (Seq[Any], Seq[Int]) => Unit): Unit = {
    val found = feed(runner).rows(rows.iterator.map(internalRow), areKept = true)(_ => matching(runner))
    rows.iterator.zip(found).foreach { case (row, numbers) => see(row, numbers) }
  }

  private def compare(runner: Runner, rules: Seq[Rule], rows: Seq[Seq[Any]], top: Int = Int.MaxValue): Unit = {
    val ordered = Rule.ordered(rules)
    run(runner, rows) { (row, found) =>
      val expected = ordered.indices.filter(i => ordered(i).tree.isTrue(row)).take(top)
      if (found != expected) {
        val wrong = (found.diff(expected) ++ expected.diff(found)).headOption
        throw new AssertionError(s"$row: $found instead of $expected; first ${wrong.map(ordered)}")
      }
    }
  }

  private def rows(random: Random, count: Int, limit: Int): Seq[Seq[Any]] =
    Seq.fill(count)(Rule.randomRow(random, limit))

  private def randomShares(random: Random)(slot: Int, codes: Int): Option[Array[Double]] =
    Option.when(random.nextInt(2 + slot % 2) == 0) {
      val weights = Array.fill(codes)(math.pow(random.nextDouble, 4))
      weights.map(_ / weights.sum)
    }

  test("a few rules of any shape") {
    cases(150) { random =>
      val limit = 3 + random.nextInt(10)
      val rules = Rule.randomRules(random, 1 + random.nextInt(12), 1 + random.nextInt(3), limit)
      val microseconds = Suite.oneOf(random)(None, Some(0.0), Some(0.2), Some(500.0), Some(1e300))
      val compiled = new CompiledRules(rules, shares = randomShares(random), microseconds = microseconds)
      compare(new Runner(compiled.program, CompiledRules.inputs), rules, rows(random, 20, limit))
    }
  }

  test("hundreds of rules that share much") {
    cases(5) { random =>
      val limit = 4 + random.nextInt(40)
      val rules = Rule.randomRules(random, 200 + random.nextInt(400), 3, limit)
      val compiled = new CompiledRules(rules, shares = randomShares(random))
      compare(new Runner(compiled.program, CompiledRules.inputs), rules, rows(random, 60, limit))
    }
  }

  test("only the first matches, band after band") {
    cases(8) { random =>
      val limit = 4 + random.nextInt(10)
      val rules = Rule.randomRules(random, if (random.nextBoolean) 30 else 200 + random.nextInt(400), 2, limit)
      val compiled = new CompiledRules(rules, inBands = true)
      val top = Suite.oneOf(random)(1, 2, 10, 300, Int.MaxValue)
      compare(new Runner(compiled.program, CompiledRules.inputs, top = top), rules, rows(random, 40, limit), top)
    }
  }

  /** Rules that are true of many rows, with simple predicates. */
  private def denseRules(random: Random, count: Int, limit: Int): IndexedSeq[Rule] = {
    def atom(): Tree = random.nextInt(8) match {
      case 0 => Atom(Rule.Text, "not in", Seq("ab", "b"))
      case 1 => Atom(Rule.Flag, "is not true", Nil)
      case 2 => Atom(3, ">", Seq(random.nextInt(limit) - 3.0))
      case 3 => Atom(random.nextInt(2), "<>", Seq(random.nextInt(limit)))
      case _ => Atom(random.nextInt(2), Suite.oneOf(random)("<", "<=", ">", ">="), Seq(random.nextInt(limit)))
    }
    IndexedSeq.tabulate(count) { i =>
      val tree = random.nextInt(3) match {
        case 0 => atom()
        case 1 => AllOf(Set(atom(), AnyOf(Set(atom(), atom(), Atom(0, "is null", Nil)))))
        case _ => AllOf(Set(Atom(1, "is not null", Nil), atom(), atom()))
      }
      Rule(s"r$i", random.nextInt(2), tree)
    }
  }

  test("rules that are evaluated for many rows at once, beside others") {
    cases(1) { random =>
      val limit = 500
      val rare = Rule.randomRules(random, 200, 2, limit).map(rule => rule.copy(id = s"x${rule.id}"))
      val rules = denseRules(random, 3500, limit) ++ rare
      val compiled = new CompiledRules(rules)
      val dense = compiled.program.code.dense.rules.length
      check(dense > 1000 && dense < rules.length,
        s"$dense of ${rules.length} rules are evaluated for many rows at once")
      val runner = new Runner(compiled.program, CompiledRules.inputs)
      // More than a chunk, and another time with less than one.
      compare(runner, rules, rows(random, 270, limit))
      compare(runner, rules, rows(random, 7, limit))
      compare(new Runner(compiled.program, CompiledRules.inputs, top = 5), rules, rows(random, 20, limit), top = 5)
    }
  }

  test("rules that are removed, or not valid at the instant, do not match") {
    cases(100) { random =>
      val limit = 5
      val now = 1000L
      def instant(): Option[Long] = Option.when(random.nextInt(3) == 0)(now - 1 + random.nextInt(3))
      val rules = Rule.randomRules(random, 1 + random.nextInt(90), 2, limit)
        .map(_.copy(from = instant(), until = instant()))
      val program = new CompiledRules(rules, inBands = random.nextBoolean).program
      val ordered = Rule.ordered(rules)
      val removed = rules.indices.filter(_ => random.nextInt(5) == 0).toArray
      val hidden = Hidden.of(program.rules.size, program.rules.validity, removed, Some(now))
      val left = ordered.indices.filter { i =>
        !removed.contains(i) && ordered(i).from.forall(_ <= now) && ordered(i).until.forall(now < _)
      }
      run(new Runner(program, CompiledRules.inputs, hidden), rows(random, 10, limit)) { (row, found) =>
        checkEqual(found, left.filter(ordered(_).tree.isTrue(row)), s"$row")
      }
    }
  }

  test("values that cannot be computed are counted, and named") {
    val rules =
      IndexedSeq(Rule("one", 0, Atom(Rule.Computed, "=", Seq(1))), Rule("null", 0, Atom(Rule.Computed, "is null", Nil)))
    val compiled = new CompiledRules(rules)
    val runner = new Runner(compiled.program, CompiledRules.inputs)
    def ids(numbers: Seq[Int]): Seq[String] = numbers.map(compiled.program.rules.ids(_).toString)
    val values = Seq("1", null, "x")
    val found = values.map { value =>
      feed(runner).row(internalRow(Seq(null, null, null, null, null, value))) { _ =>
        val errors = runner.errors.find(compiled.forest)
        (ids(matching(runner)), ids(errors.map(_._1)), errors.map(_._2).distinct)
      }
    }
    val failed = (Nil, Seq("null", "one"), Seq(Rule.Computed))
    checkEqual(found, Seq((Seq("one"), Nil, Nil), (Seq("null"), Nil, Nil), failed), "matches and failures")
    checkEqual(runner.codes.errors, 1L, "errors")
  }

  test("every node of the forest is as true as its tree") {
    cases(100) { random =>
      val limit = 6
      val rules = Rule.randomRules(random, 1 + random.nextInt(10), 3, limit)
      val compiled = new CompiledRules(rules)
      val runner = new Runner(compiled.program, CompiledRules.inputs)
      val truth = runner.codes.truthOf(compiled.forest)
      rows(random, 10, limit).foreach { row =>
        feed(runner).row(internalRow(row))(identity)
        rules.flatMap(_.tree.all).foreach { tree =>
          checkEqual(truth.of(compiled.node(tree)), tree.isTrue(row), s"$tree of $row")
        }
      }
    }
  }
}
