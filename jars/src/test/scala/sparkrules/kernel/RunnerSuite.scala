package sparkrules.kernel

import java.util.Random

import org.apache.spark.sql.catalyst.InternalRow

import sparkrules.Suite
import sparkrules.compile.CompiledRules
import sparkrules.compile.CompiledRules.internalRow
import sparkrules.program.{AllOf, AnyOf, Atom, Hidden, Rule, Tree}

/** Compiled rules, run over rows, against evaluating the tree of each rule. */
final class RunnerSuite extends Suite {

  /** Runs rows as a task does: announces as many as the runner wants to see at once. */
  private def run(runner: Runner, rows: Seq[Seq[Any]])(see: (Seq[Any], Seq[Int]) => Unit): Unit = {
    val internal: Seq[InternalRow] = rows.map(internalRow)
    val chunks = if (runner.chunk == 0) Seq(rows.indices) else rows.indices.grouped(runner.chunk).toSeq
    chunks.foreach { chunk =>
      if (runner.chunk > 0) runner.startChunk(chunk.length, i => internal(chunk(i)))
      chunk.foreach { i =>
        runner.run(internal(i))
        runner.sort()
        see(rows(i), runner.matched.take(runner.count).toSeq)
      }
    }
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
      val compiled = new CompiledRules(rules, shares = randomShares(random))
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
      val dense = compiled.program.dense.subscriptions.length
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
      val hidden = Hidden.of(program.subscriptions, program.validity, removed, Some(now))
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
    val runner = new Runner(new CompiledRules(rules).program, CompiledRules.inputs)
    val values = Seq("1", null, "x")
    val found = values.map { value =>
      runner.run(internalRow(Seq(null, null, null, null, null, value)))
      (runner.matched.take(runner.count).toSeq.map(runner.program.ids(_).toString), runner.failures().map(_._1))
    }
    val slot = Rule.Computed
    checkEqual(found, Seq((Seq("one"), Nil), (Seq("null"), Nil), (Nil, Seq(slot))), "matches and failures")
    checkEqual(runner.errors, 1L, "errors")
  }

  test("every node of the forest is as true as its tree") {
    cases(100) { random =>
      val limit = 6
      val rules = Rule.randomRules(random, 1 + random.nextInt(10), 3, limit)
      val compiled = new CompiledRules(rules)
      val runner = new Runner(compiled.program, CompiledRules.inputs)
      val truth = runner.truthOf(compiled.forest)
      rows(random, 10, limit).foreach { row =>
        runner.look(internalRow(row))
        rules.flatMap(_.tree.all).foreach { tree =>
          checkEqual(truth.of(compiled.node(tree)), tree.isTrue(row), s"$tree of $row")
        }
      }
    }
  }
}
