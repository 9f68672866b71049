package sparkrules.kernel

import java.util.Random

import scala.collection.mutable.ArrayBuffer

import org.apache.spark.sql.catalyst.expressions.Expression

import sparkrules.Suite
import sparkrules.compile.CompiledRules
import sparkrules.program.{AllOf, AnyOf, Atom, Hidden, Rule, Tree}

/**
 * The calls of Python functions that rows need, against brute force: which can still decide a rule, given what is
 * known, is found by trying all truth values of what is open.
 */
final class QuestionSuite extends Suite {
  import QuestionSuite._

  /** Asks for a row until nothing is open that a rule needs, and checks each call; the calls. */
  private def asked(
      questions: Asking, row: Seq[Any], trees: Seq[Tree], calls: IndexedSeq[Int], asking: AskedRow): Seq[Int] = {
    val made = ArrayBuffer.empty[Int]
    var call = questions.next(asking)
    while (call != QuestionRunner.None) {
      val open = calls.filterNot(made.contains).toSet
      val column = calls(call)
      check(open(column), s"$row: column $column is asked for again after $made")
      check(
        trees.exists(isDecidedBy(_, row, open, column)),
        s"$row: column $column decides nothing after $made, open $open: ${trees.filter(isOpen(_, row, open))}")
      asking.answer(call, CompiledRules.internal(row(column)))
      made += column
      call = questions.next(asking)
    }
    val open = calls.filterNot(made.contains).toSet
    trees.foreach(tree => check(!isOpen(tree, row, open), s"$row: not decided after $made: $tree"))
    made.toSeq
  }

  private def compare(random: Random, rules: IndexedSeq[Rule], limit: Int, rows: Int): Unit = {
    val calls = random.nextInt(4) match {
      case 0 => IndexedSeq(random.nextInt(Rule.Columns.length))
      case 1 => Rule.Columns.indices
      case _ => Rule.Columns.indices.filter(_ => random.nextBoolean)
    }
    val microseconds = Suite.oneOf(random)(None, Some(0.0), Some(500.0))
    val compiled = new CompiledRules(rules, microseconds = microseconds, results = calls.toSet)
    val order = compiled.resultsInOrder.toIndexedSeq
    val ordered = Rule.ordered(rules)
    val areRemoved = random.nextBoolean
    val removed = ordered.indices.filter(_ => areRemoved && random.nextInt(4) == 0).toArray
    val hidden = Hidden.of(ordered.length, compiled.program.rules.validity, removed, None)
    val left = ordered.indices.filterNot(removed.contains(_))
    val inputs: Seq[Expression] = CompiledRules.inputs.zipWithIndex.map { case (input, i) =>
      if (calls.contains(i)) CallResult(order.indexOf(i), input.dataType, s"f$i()") else input
    }
    val runner = new Runner(compiled.program, inputs, hidden)
    val feed = new RowFeed(Array(runner), RowClock.off)
    val questions = compiled.questions.map { found =>
      new QuestionRunner(found, compiled.program.slots, inputs, hidden, new NestedValues)
    }
    (0 until rows).foreach { _ =>
      val row = Rule.randomRow(random, limit)
      val asking = new AskedRow(CompiledRules.internalRow(row.zipWithIndex.map { case (value, i) =>
        if (calls.contains(i)) null else value
      }), calls.length)
      questions.foreach(asked(_, row, left.map(ordered(_).tree), order, asking))
      val found = feed.row(asking)(_ => runner.found.inOrder.take(runner.found.count).toSeq)
      val open = order.indices.filter(asking.isOpen).map(order)
      checkEqual(found, left.filter(ordered(_).tree.isTrue(row)), s"$row with open $open")
    }
  }

  test("a call is asked for exactly if it can decide a rule") {
    cases(300) { random =>
      val limit = 3 + random.nextInt(5)
      compare(random, Rule.randomRules(random, 1 + random.nextInt(6), 1 + random.nextInt(2), limit), limit, 12)
    }
  }

  test("conjunctions ask for one result after the other") {
    cases(200) { random =>
      val limit = 3 + random.nextInt(3)
      val atoms = IndexedSeq.fill(8)(Rule.randomAtom(random, limit))
      val rules = IndexedSeq.tabulate(10) { i =>
        Rule(s"r$i", 0, AllOf(Set.fill(2 + random.nextInt(4))(atoms(random.nextInt(atoms.length)))))
      }
      compare(random, rules, limit, 12)
    }
  }

  test("hundreds of rules are decided") {
    cases(3) { random =>
      val limit = 6
      compare(random, Rule.randomRules(random, 300, 2, limit), limit, 10)
    }
  }

  test("a rule that is decided asks for nothing") {
    val (cheap, dear, other) = (Atom(0, "=", Seq(1)), Atom(1, ">", Seq(3)), Atom(Rule.Computed, "=", Seq(2)))
    def calls(tree: Tree, row: Seq[Any]): Seq[Int] = {
      val compiled = new CompiledRules(IndexedSeq(Rule("one", 0, tree)), results = Set(1, Rule.Computed))
      val inputs = CompiledRules.inputs.zipWithIndex.map { case (input, i) =>
        if (i == 1) CallResult(0, input.dataType, "f") else if (i == Rule.Computed) CallResult(1, input.dataType, "g")
        else input
      }
      val questions = new QuestionRunner(
        compiled.questions.get, compiled.program.slots, inputs, null, new NestedValues)
      asked(questions, row, Seq(tree), IndexedSeq(1, Rule.Computed), new AskedRow(CompiledRules.internalRow(row), 2))
    }
    def row(a: Any, b: Any, t: Any): Seq[Any] = Seq(a, b, "", 0.0, true, t)
    checkEqual(calls(AllOf(Set(cheap, dear)), row(2, 9, "2")), Nil, "behind what is false")
    checkEqual(calls(AllOf(Set(cheap, dear)), row(1, 9, "2")), Seq(1), "behind what is true")
    checkEqual(calls(AnyOf(Set(cheap, dear)), row(1, 9, "2")), Nil, "beside what is true")
    checkEqual(calls(AllOf(Set(dear, other)), row(1, 0, "2")), Seq(1), "the first decides")
    checkEqual(calls(AllOf(Set(dear, other)), row(1, 9, "2")), Seq(1, Rule.Computed), "the first does not decide")
    checkEqual(calls(AllOf(Set(dear, other)), row(1, 9, "x")), Seq(1, Rule.Computed), "a value that fails")
    val twice = AnyOf(Set(AllOf(Set(dear, other)), AllOf(Set(other, cheap))))
    checkEqual(calls(twice, row(1, 9, "2")), Seq(Rule.Computed), "what makes no difference is not asked for")
  }
}

private object QuestionSuite {

  private def atoms(tree: Tree): Seq[Atom] = tree.all.toSeq.collect { case atom: Atom => atom }

  /** A tree as a function of the truth of what is open. */
  private def isTrue(tree: Tree, row: Seq[Any], open: Set[Int], truth: Atom => Boolean): Boolean = tree match {
    case AllOf(parts) => parts.forall(isTrue(_, row, open, truth))
    case AnyOf(parts) => parts.exists(isTrue(_, row, open, truth))
    case atom: Atom => if (open(atom.attribute)) truth(atom) else atom.isTrue(row)
  }

  /** Whether the tree is not decided while the results of these columns are open. No predicate is negated. */
  def isOpen(tree: Tree, row: Seq[Any], open: Set[Int]): Boolean =
    isTrue(tree, row, open, _ => true) && !isTrue(tree, row, open, _ => false)

  /** Whether for some truth of the other open predicates those of a column make a difference. */
  def isDecidedBy(tree: Tree, row: Seq[Any], open: Set[Int], column: Int): Boolean = {
    val others = atoms(tree).filter(atom => open(atom.attribute) && atom.attribute != column).distinct
    isOpen(tree, row, open) && (0 until (1 << others.length)).exists { bits =>
      def truth(own: Boolean)(atom: Atom): Boolean =
        if (atom.attribute == column) own else (bits >> others.indexOf(atom) & 1) == 1
      isTrue(tree, row, open, truth(own = true)) && !isTrue(tree, row, open, truth(own = false))
    }
  }
}
