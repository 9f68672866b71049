package sparkrules.version

import sparkrules.Suite
import sparkrules.compile.CompiledRules
import sparkrules.program.{Atom, Rule}

/** The order of the rules of several parts against sorting all of them. */
final class OrderSuite extends Suite {

  private def part(rules: IndexedSeq[Rule]): VersionPart = {
    val compiled = new CompiledRules(rules)
    new VersionPart(
      compiled.bound, FunctionDefinitions.none, Array.empty, Nil, Nil, compiled.program, compiled.forest, null,
      None)
  }

  test("rules of all parts are in order: highest priority first, then by id") {
    cases(80) { random =>
      val count = random.nextInt(60)
      val priorities = 1 + random.nextInt(5)
      val parts = 1 + random.nextInt(5)
      val owned = Seq.tabulate(count) { i =>
        val id = Suite.oneOf(random)("", "a", "ab", "b") + Integer.toString(i, 36)
        (random.nextInt(parts), Rule(id, random.nextInt(priorities) - 1, Atom(0, "is null", Nil)))
      }
      // A part without rules is possible, too.
      val rulesOf = IndexedSeq.tabulate(parts)(p => owned.filter(_._1 == p).map(_._2).toIndexedSeq)
      val ordered = rulesOf.map(rules => Rule.ordered(rules))
      val order = Order.of(rulesOf.map(part))
      val all = for (p <- 0 until parts; i <- ordered(p).indices) yield (p, i)
      val byKey = all.sortBy { case (p, i) => order.key(p, i) }.map { case (p, i) => ordered(p)(i) }
      checkEqual(byKey, Rule.ordered(owned.map(_._2)), "rules by their keys")
      all.foreach { case (p, i) =>
        val key = order.key(p, i)
        val found = if (p == order.main) i else -1 - Order.otherOf(key)
        checkEqual((order.part(found), order.rule(found)), (p, i), s"what $found stands for")
        if (p != order.main) {
          val before = ordered(order.main).count(rule => Rule.ordered(Seq(rule, ordered(p)(i))).head == rule)
          checkEqual(Order.placeOf(key), before, s"rules of the main part before ${ordered(p)(i)}")
        }
      }
    }
  }
}
