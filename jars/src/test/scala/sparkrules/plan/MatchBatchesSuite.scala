package sparkrules.plan

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.JoinedRow
import org.apache.spark.sql.execution.vectorized.OnHeapColumnVector
import org.apache.spark.sql.types.{IntegerType, StructType}
import org.apache.spark.sql.vectorized.{ColumnVector, ColumnarBatch}

import sparkrules.Suite

/** Batches with more columns than the plan knows of. */
final class MatchBatchesSuite extends Suite {

  /** Column c of row r has the value 10r + c. */
  private def batch(columns: Int, rows: Int): ColumnarBatch = {
    val schema = (0 until columns).foldLeft(new StructType)((all, c) => all.add(s"c$c", IntegerType))
    val vectors = OnHeapColumnVector.allocateColumns(rows, schema)
    for (c <- 0 until columns; r <- 0 until rows) vectors(c).putInt(r, 10 * r + c)
    new ColumnarBatch(vectors.map(v => v: ColumnVector), rows)
  }

  test("answers follow the columns of the plan, whatever the source has appended") {
    Seq(1, 2, 3).foreach { columns =>
      val rows = MatchBatches.first(batch(3, 2), columns)
      checkEqual(rows.numRows, 2, "rows")
      val joined = new JoinedRow(rows.getRow(1), InternalRow(-7))
      checkEqual((0 to columns).map(joined.getInt), (10 until 10 + columns) :+ -7, s"$columns columns")
    }
  }

  test("a batch as the plan knows it is not copied") {
    val whole = batch(2, 1)
    check(MatchBatches.first(whole, 2) eq whole, "it is another one")
  }

  test("only columns of known classes are read by themselves") {
    check(KnownColumns.areIn(batch(2, 1)), "Spark's own")
    check(!KnownColumns.areIn(Foreign.batches("plain", 0).next()), "those of another library")
    check(KnownColumns.areIn(Foreign.batches("mixed", 0).next()), "Spark's own, from another library")
  }
}
