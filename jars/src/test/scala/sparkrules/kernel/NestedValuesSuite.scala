package sparkrules.kernel

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{BoundReference, Expression, GetStructField, IsNull, Size}
import org.apache.spark.sql.catalyst.util.ArrayData
import org.apache.spark.sql.execution.vectorized.OnHeapColumnVector
import org.apache.spark.sql.types._
import org.apache.spark.sql.vectorized.{ColumnVector, ColumnarBatch}

import sparkrules.Suite

/** Nested values of a batch are copied once per row, and only those that are read as a whole. */
final class NestedValuesSuite extends Suite {
  private val ints = ArrayType(IntegerType)
  private val struct = new StructType().add("x", IntegerType).add("y", ints)
  private val array = BoundReference(0, ints, nullable = true)
  private val (x, y) = (field(0), field(1))

  private def field(ordinal: Int): Expression =
    GetStructField(BoundReference(1, struct, nullable = true), ordinal)

  /** Row i: the array [NULL, i]; the struct x: i, or NULL in row 1; y: the array. */
  private def batch(rows: Int): ColumnarBatch = {
    val columns = OnHeapColumnVector.allocateColumns(rows, new StructType().add("a", ints).add("s", struct))
    val inside = columns(1).getChild(1)
    for (i <- 0 until rows) {
      Seq(columns(0), inside).foreach { arrays =>
        arrays.arrayData.appendNull()
        arrays.arrayData.appendInt(i)
        arrays.putArray(i, 2 * i, 2)
      }
      if (i == 1) columns(1).getChild(0).putNull(i) else columns(1).getChild(0).putInt(i, i)
    }
    new ColumnarBatch(columns.map(c => c: ColumnVector), rows)
  }

  private def elements(array: Any): Seq[Any] = array.asInstanceOf[ArrayData].toSeq[Any](IntegerType)

  test("all expressions of a row read the same copy, those of the next row another") {
    val nested = new NestedValues
    val (first, second) = (nested.readable(array), nested.readable(Size(array)).children.head)
    val rows = batch(3)
    nested.startBatch()
    val copy = first.eval(rows.getRow(0))
    check(second.eval(rows.getRow(0)).asInstanceOf[AnyRef] eq copy.asInstanceOf[AnyRef], "there are two copies")
    checkEqual(elements(copy), Seq[Any](null, 0), "row 0")
    checkEqual(elements(second.eval(rows.getRow(1))), Seq[Any](null, 1), "row 1")
    checkEqual(elements(copy), Seq[Any](null, 0), "row 0, later")
  }

  test("a batch that is filled anew has rows of its own") {
    val nested = new NestedValues
    val read = nested.readable(array)
    Seq(batch(1), batch(2)).foreach { rows =>
      nested.startBatch()
      val last = rows.numRows - 1
      checkEqual(elements(read.eval(rows.getRow(last))), Seq[Any](null, last), s"row $last")
      rows.column(0).asInstanceOf[OnHeapColumnVector].putArray(last, 0, 1)
      nested.startBatch()
      checkEqual(elements(read.eval(rows.getRow(last))), Seq[Any](null), s"row $last, filled anew")
    }
  }

  test("nothing is kept of rows that come without their batch") {
    val read = new NestedValues().readable(array)
    val rows = batch(1)
    checkEqual(elements(read.eval(rows.getRow(0))), Seq[Any](null, 0), "row 0")
    rows.column(0).asInstanceOf[OnHeapColumnVector].putArray(0, 0, 1)
    checkEqual(elements(read.eval(rows.getRow(0))), Seq[Any](null), "row 0, filled anew")
  }

  test("a field is read where it lies") {
    val nested = new NestedValues
    val rows = batch(2)
    nested.startBatch()
    Seq(x, IsNull(x)).foreach { e =>
      check(!nested.readable(e).exists(_.isInstanceOf[CopiedValue]), s"$e copies something")
    }
    val copied = nested.readable(Size(y)).collect { case copy: CopiedValue => copy.dataType }
    checkEqual(copied, Seq[DataType](ints), "what is copied to read an array in a struct")
    checkEqual(Seq(0, 1).map(i => nested.readable(x).eval(rows.getRow(i))), Seq[Any](0, null), "x")
    checkEqual(elements(nested.readable(y).eval(rows.getRow(1))), Seq[Any](null, 1), "y")
    checkEqual(nested.readable(x).eval(InternalRow(null, null)), null: Any, "x of NULL")
  }
}
