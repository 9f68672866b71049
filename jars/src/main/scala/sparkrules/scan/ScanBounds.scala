package sparkrules.scan

/**
 * How large a scan filter may be. The source evaluates it once per file and row group, so it need not be tiny; but
 * Spark's optimizer takes it apart, and EXPLAIN shows it. Python has the same bounds (`implied_filter.py`).
 */
private object ScanBounds {

  /** The disjuncts of a filter, and the ranges of a column in one of them. */
  val Disjuncts = 32

  /** The values of a list. */
  val Values = 1000
}
