package sparkrules

import java.util.Arrays

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{BoundReference, Expression}
import org.apache.spark.sql.execution.vectorized.WritableColumnVector
import org.apache.spark.sql.types._
import org.apache.spark.sql.vectorized.{ColumnarBatch, ColumnarBatchRow}

/** Computes the code of a slot for a row. */
sealed abstract class SlotReader {
  def read(row: InternalRow): Int

  /** The value of a row that was read, where it was not NULL. */
  def value(row: InternalRow): Any

  /** To be called before the rows of a batch are read. */
  def startBatch(batch: ColumnarBatch): Unit = ()
}

object SlotReader {

  /** Columns of common types are read without boxing; anything else is evaluated by Spark's expression. */
  def apply(expression: Expression, keys: Keys): SlotReader = (expression, keys) match {
    case (BoundReference(i, dataType, _), longs: LongKeys) =>
      dataType match {
        case BooleanType => new ColumnReader(i, dataType, row => longs.codeOfLong(if (row.getBoolean(i)) 1L else 0L))
        case ByteType => new ColumnReader(i, dataType, row => longs.codeOfLong(row.getByte(i).toLong))
        case ShortType => new ColumnReader(i, dataType, row => longs.codeOfLong(row.getShort(i).toLong))
        case IntegerType | DateType | _: YearMonthIntervalType =>
          new ColumnReader(i, dataType, row => longs.codeOfLong(row.getInt(i).toLong))
        case LongType | TimestampType | TimestampNTZType | _: DayTimeIntervalType =>
          new ColumnReader(i, dataType, row => longs.codeOfLong(row.getLong(i)))
        case FloatType =>
          new ColumnReader(i, dataType, row => longs.codeOfLong(LongKeys.ofDouble(row.getFloat(i).toDouble)))
        case DoubleType => new ColumnReader(i, dataType, row => longs.codeOfLong(LongKeys.ofDouble(row.getDouble(i))))
        case _ => new ColumnReader(i, dataType, row => keys.codeOf(row.get(i, dataType)))
      }
    case (BoundReference(i, StringType, _), texts: StringKeys) =>
      new ColumnReader(i, StringType, row => texts.codeOfText(row.getUTF8String(i)))
    case (BoundReference(i, dataType, _), NoKeys) => new ColumnReader(i, dataType, _ => 1)
    case (BoundReference(i, dataType, _), _) =>
      new ColumnReader(i, dataType, row => keys.codeOf(row.get(i, dataType)))
    case _ => new ExpressionReader(expression, keys)
  }

  /** In a batch whose column has a dictionary, each of its entries is coded once. */
  private final class ColumnReader(ordinal: Int, dataType: DataType, code: InternalRow => Int) extends SlotReader {
    private var dictionaryIds: WritableColumnVector = _
    // Per entry of the dictionary: its code, or -1.
    private var known = Array.fill(64)(-1)
    private var highest = -1

    override def startBatch(batch: ColumnarBatch): Unit = {
      Arrays.fill(known, 0, highest + 1, -1)
      highest = -1
      dictionaryIds = batch.column(ordinal) match {
        case column: WritableColumnVector if column.hasDictionary => column.getDictionaryIds
        case _ => null
      }
    }

    def read(row: InternalRow): Int =
      if (row.isNullAt(ordinal)) Keys.NullCode
      else if (dictionaryIds == null) code(row)
      else {
        val entry = dictionaryIds.getDictId(row.asInstanceOf[ColumnarBatchRow].rowId)
        if (entry > highest) {
          if (entry >= known.length) {
            val before = known.length
            known = Arrays.copyOf(known, 2 * entry)
            Arrays.fill(known, before, known.length, -1)
          }
          highest = entry
        }
        if (known(entry) < 0) known(entry) = code(row)
        known(entry)
      }

    def value(row: InternalRow): Any = row.get(ordinal, dataType)
  }

  private final class ExpressionReader(expression: Expression, keys: Keys) extends SlotReader {
    private var last: Any = _
    def read(row: InternalRow): Int = {
      last = expression.eval(row)
      if (last == null) Keys.NullCode else keys.codeOf(last)
    }
    def value(row: InternalRow): Any = last
  }
}
