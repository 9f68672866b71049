package sparkrules.metrics

import sparkrules.Suite

/** Reports stay small, and the names of metrics are safe and different, whatever the ids are. */
final class RuleReportSuite extends Suite {

  test("the largest counts are kept, of equal ones the first") {
    val parts = Seq(Array(3L, 0L, 5L), Array.emptyLongArray, Array(5L, 3L, 3L))
    checkEqual(RunCounts.largest(parts, 3), Seq((0, 0), (0, 2), (2, 0)), "three")
    checkEqual(RunCounts.largest(parts, 9).length, 5, "all that are not 0")
    checkEqual(RunCounts.largest(Seq(Array(0L)), 2), Seq.empty[(Int, Int)], "none")
  }

  test("a report keeps the first by matches, by errors and by time") {
    val counts = Seq(RuleCount("a", 9, 0, 0), RuleCount("b", 8, 0, 1), RuleCount("c", 0, 7, 0), RuleCount("d", 0, 1, 5))
    val report = RuleReport(10, 17, 8, 6, 5, 2, counts)
    checkEqual(report.first(1).counts.map(_.id), Seq("a", "c", "d"), "one of each")
    checkEqual(report.first(4), report, "all")
    val twice = report + report
    checkEqual(twice.counts.map(c => (c.id, c.hits)), Seq(("a", 18L), ("b", 16L), ("c", 0L), ("d", 0L)), "sums")
    checkEqual((twice.rows, twice.rules, twice.rulesHit), (20L, 5, 2), "rules are the same")
  }

  test("names of metrics") {
    val ids = Seq("a", "A", "a_", "_a", "a-b", "a_b", "a b", "a.b", "", "_5f_", "5f", "ä", "😀", "x" * 100, "x" * 101,
      "-" * 30, "-" * 31, "{le=\"1\"} 5\nother 7", "x" * 60 + "__0011223344556677")
    val names = ids.map(RuleGauges.safe)
    checkEqual(names.distinct.length, ids.length, "different ids have different names")
    check(names.forall(_.matches("[A-Za-z0-9_]{0,80}")), s"safe: $names")
    checkEqual(RuleGauges.safe("hot42"), "hot42", "plain ids stay as they are")
  }
}
