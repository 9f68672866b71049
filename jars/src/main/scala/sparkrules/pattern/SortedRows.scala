package sparkrules.pattern

import org.apache.spark.sql.Row

/** Detects patterns in all rows of a key at once, sorted by Spark in the order of events. */
final case class SortedRows(patterns: Patterns, rows: Detections)
    extends ((String, Iterator[Row]) => IterableOnce[Row]) {

  override def apply(text: String, group: Iterator[Row]): Iterator[Row] = {
    val key = PatternKey.read(text)
    patterns.of(key).fold(Iterator.empty[Row]) { pattern =>
      val detector = new Detector(pattern)
      var until: Option[Long] = None
      val atRows = group.flatMap { row =>
        if (until.isEmpty) until = rows.until(row)
        detector.take(rows.event(row))
        detector.detections()
      }
      // Only when the rows have been read.
      lazy val atEnd = {
        until.foreach(detector.passed)
        detector.detections().iterator
      }
      (atRows ++ atEnd).map(rows.row(pattern, key, _))
    }
  }

  // What EXPLAIN shows.
  override def toString: String = s"SortedRows($patterns)"
}
