package sparkrules.overlap

import java.util.Random

import sparkrules.Suite
import sparkrules.compile.CompiledRules
import sparkrules.kernel.{RowClock, RowFeed, Runner}
import sparkrules.program.{Atom, Rule, Tree}

/** The groups of matching rules that share a true subexpression against looking at all subexpressions of all rules. */
final class SharedNodesSuite extends Suite {

  private def shared(parts: IndexedSeq[CompiledRules]): SharedNodes = {
    val common =
      if (parts.length == 1) CommonNodes.none
      else CommonNodes.of(parts.map { part =>
        Digests.of(part.forest, part.nodePredicates, Digests.ofPredicates(part.segment))
      }.toArray)
    common.sharedNodes(parts.map(_.forest).toArray)
  }

  private def expected(rules: Seq[Rule], row: Seq[Any]): Set[Set[String]] = {
    val matching = rules.filter(_.tree.isTrue(row))
    val users = matching.flatMap(rule => rule.tree.all.map(_ -> rule.id)).groupMap(_._1)(_._2)
    users.collect { case (tree, ids) if ids.length > 1 && tree.isTrue(row) => ids.toSet }.toSet
  }

  /** Without doubles: to the model NaN is not itself, and 0.0 is -0.0. */
  private def rules(random: Random): IndexedSeq[Rule] = {
    def hasDouble(tree: Tree): Boolean = tree match {
      case atom: Atom => Rule.Columns(atom.attribute)._1 == "d"
      case _ => false
    }
    Rule.randomRules(random, 2 + random.nextInt(25), 3, 4).filterNot(_.tree.all.exists(hasDouble))
  }

  test("no group is lost, and none is made up") {
    var groups = 0
    cases(120) { random =>
      val all = rules(random)
      val count = if (random.nextBoolean) 1 else 1 + random.nextInt(3)
      val owners = all.map(_ => random.nextInt(count))
      val own = IndexedSeq.tabulate(count)(p => all.indices.filter(owners(_) == p).map(all(_)))
      val parts = own.map(rules => new CompiledRules(rules))
      val ordered = own.map(rules => Rule.ordered(rules))
      val nodes = shared(parts)
      val runners = parts.map(part => new Runner(part.program, CompiledRules.inputs)).toArray
      val feed = new RowFeed(runners, RowClock.off)
      val truths = parts.indices.map(p => runners(p).codes.truthOf(parts(p).forest)).toArray
      (0 until 10).foreach { _ =>
        val row = Rule.randomRow(random, 4)
        feed.row(CompiledRules.internalRow(row))(identity)
        val visits = for {
          p <- parts.indices
          i <- ordered(p).indices if ordered(p)(i).tree.isTrue(row)
          number <- nodes.nodes(p)(i) if nodes.isTrue(number, runners, truths)
        } yield number -> ordered(p)(i).id
        val found = visits.groupMap(_._1)(_._2).values.map(_.toSet).filter(_.size > 1).toSet
        checkEqual(found, expected(all, row), s"$row, $ordered")
        groups += found.size
      }
    }
    check(groups > 200, s"only $groups groups in all")
  }
}
