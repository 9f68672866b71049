package sparkrules

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{BoundReference, Expression}
import org.apache.spark.sql.types._

/** Computes the code of a slot for a row, and keeps the value for the tests that are made of it. */
sealed abstract class SlotReader {

  /** The value of the last row read, where it was not NULL; only readers that are the base of others have it. */
  def value: Any

  def read(row: InternalRow): Int
}

object SlotReader {

  /** Columns of primitive types are read without boxing; anything else is evaluated by Spark's expression. */
  def apply(expression: Expression, keys: Keys): SlotReader = (expression, keys) match {
    case (BoundReference(i, dataType, _), longs: LongKeys) =>
      dataType match {
        case BooleanType => new ColumnReader(i, row => longs.codeOfLong(if (row.getBoolean(i)) 1L else 0L))
        case ByteType => new ColumnReader(i, row => longs.codeOfLong(row.getByte(i).toLong))
        case ShortType => new ColumnReader(i, row => longs.codeOfLong(row.getShort(i).toLong))
        case IntegerType | DateType | _: YearMonthIntervalType =>
          new ColumnReader(i, row => longs.codeOfLong(row.getInt(i).toLong))
        case LongType | TimestampType | TimestampNTZType | _: DayTimeIntervalType =>
          new ColumnReader(i, row => longs.codeOfLong(row.getLong(i)))
        case FloatType => new ColumnReader(i, row => longs.codeOfLong(LongKeys.ofDouble(row.getFloat(i).toDouble)))
        case DoubleType => new ColumnReader(i, row => longs.codeOfLong(LongKeys.ofDouble(row.getDouble(i))))
        case _ => new ExpressionReader(expression, keys)
      }
    case _ => new ExpressionReader(expression, keys)
  }

  private final class ColumnReader(ordinal: Int, code: InternalRow => Int) extends SlotReader {
    def value: Any = throw new IllegalStateException("only texts and binaries are the base of other tests")
    def read(row: InternalRow): Int = if (row.isNullAt(ordinal)) Keys.NullCode else code(row)
  }

  private final class ExpressionReader(expression: Expression, keys: Keys) extends SlotReader {
    var value: Any = _
    def read(row: InternalRow): Int = {
      value = expression.eval(row)
      if (value == null) Keys.NullCode else keys.codeOf(value)
    }
  }
}
