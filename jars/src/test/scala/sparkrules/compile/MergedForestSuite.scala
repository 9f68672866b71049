package sparkrules.compile

import sparkrules.Suite
import sparkrules.kernel.{RowClock, RowFeed, Runner}
import sparkrules.program.{AllOf, Atom, Forest, Rule}

/** A merged forest says the same of every row, and has one predicate per slot under an AND. */
final class MergedForestSuite extends Suite {

  test("rules are as true as in the forest that was merged") {
    cases(200) { random =>
      val limit = 6
      val rules = Rule.randomRules(random, 1 + random.nextInt(10), 3, limit)
      val compiled = new CompiledRules(rules)
      val merged = MergedForest.of(compiled.forest)
      val runner = new Runner(compiled.program, CompiledRules.inputs)
      val feed = new RowFeed(Array(runner), RowClock.off)
      val truth = runner.codes.truthOf(merged)
      val ordered = Rule.ordered(rules)
      (0 until 10).foreach { _ =>
        val row = Rule.randomRow(random, limit)
        feed.row(CompiledRules.internalRow(row))(identity)
        ordered.indices.foreach { i =>
          checkEqual(truth.of(merged.roots(i)), ordered(i).tree.isTrue(row), s"${ordered(i)} of $row")
        }
      }
    }
  }

  test("what contradicts itself is a predicate without codes") {
    val never = AllOf(Set(Atom(0, ">", Seq(5)), AllOf(Set(Atom(0, "<", Seq(3)), Atom(1, "=", Seq(1))))))
    val merged = MergedForest.of(new CompiledRules(IndexedSeq(Rule("never", 0, never))).forest)
    val root = merged.roots.head
    checkEqual(merged.kinds(root), Forest.And, "the root's kind")
    val predicates = merged.children(root).toSeq
    checkEqual(predicates.map(merged.slots(_)).sorted, Seq(0, 1), "one predicate per slot")
    checkEqual(predicates.count(merged.intervals.length(_) == 0), 1, "predicates without codes")
  }
}
