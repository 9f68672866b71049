package sparkrules.kernel

import java.util.Arrays

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{BoundReference, Expression, Lower, Upper}
import org.apache.spark.sql.execution.vectorized.WritableColumnVector
import org.apache.spark.sql.types._
import org.apache.spark.sql.vectorized.{ColumnarBatch, ColumnarBatchRow}
import org.apache.spark.unsafe.types.UTF8String

import sparkrules.guard.{Measured, MeteredRow}
import sparkrules.value.{Keys, LongKeys, NoKeys, StringKeys}

/** Computes the code of a slot for a row. */
sealed abstract class SlotReader {
  def read(row: InternalRow): Int

  /** The value of the row that was read last, if it was not NULL. */
  def value(row: InternalRow): Any

  /** A batch comes; its rows are read next. */
  def startBatch(batch: ColumnarBatch): Unit = ()

  /** The rows that are read next are those of no batch. */
  def startRows(): Unit = ()
}

object SlotReader {

  /** Columns of common types are read without boxing; anything else is evaluated by Spark's expression. */
  def apply(expression: Expression, keys: Keys): SlotReader = (expression, keys) match {
    case (BoundReference(i, dataType, _), longs: LongKeys) =>
      dataType match {
        case BooleanType => new ColumnReader(i, dataType) {
            def code(row: InternalRow): Int = longs.codeOfLong(if (row.getBoolean(i)) 1L else 0L)
          }
        case ByteType => new ColumnReader(i, dataType) {
            def code(row: InternalRow): Int = longs.codeOfLong(row.getByte(i).toLong)
          }
        case ShortType => new ColumnReader(i, dataType) {
            def code(row: InternalRow): Int = longs.codeOfLong(row.getShort(i).toLong)
          }
        case IntegerType | DateType | _: YearMonthIntervalType => new ColumnReader(i, dataType) {
            def code(row: InternalRow): Int = longs.codeOfLong(row.getInt(i).toLong)
          }
        case LongType | TimestampType | TimestampNTZType | _: DayTimeIntervalType => new ColumnReader(i, dataType) {
            def code(row: InternalRow): Int = longs.codeOfLong(row.getLong(i))
          }
        case FloatType => new ColumnReader(i, dataType) {
            def code(row: InternalRow): Int = longs.codeOfLong(LongKeys.ofDouble(row.getFloat(i).toDouble))
          }
        case DoubleType => new ColumnReader(i, dataType) {
            def code(row: InternalRow): Int = longs.codeOfLong(LongKeys.ofDouble(row.getDouble(i)))
          }
        case _ => new BoxedReader(i, dataType, keys)
      }
    case (BoundReference(i, StringType, _), texts: StringKeys) => new ColumnReader(i, StringType) {
        def code(row: InternalRow): Int = texts.codeOfText(row.getUTF8String(i))
      }
    case (BoundReference(i, dataType, _), NoKeys) => new ColumnReader(i, dataType) {
        def code(row: InternalRow): Int = 1
      }
    case (BoundReference(i, dataType, _), _) => new BoxedReader(i, dataType, keys)
    case (nested: CopiedValue, NoKeys) => new PresenceReader(nested)
    case (CaseOf(i), _) => new CaseReader(i, expression, keys)
    case _ => new ExpressionReader(expression, keys)
  }

  /**
   * In a batch whose column has a dictionary, each of its entries is coded once. A column that was asked for in many
   * rows of one batch is coded as a whole in the next.
   */
  private abstract class ColumnReader(ordinal: Int, dataType: DataType) extends SlotReader {
    private var dictionaryIds: WritableColumnVector = _
    // Per entry of the dictionary: its code, or -1.
    private var known = Array.fill(64)(-1)
    private var highest = -1
    // Of the batch: how many rows there are, and were asked for one by one; the codes of all, if that was done.
    private var (rows, asked) = (0, 0)
    private var isCoded = false
    private var codes = new Array[Int](0)

    /** The code of a value that is not NULL. */
    protected def code(row: InternalRow): Int

    override def startBatch(batch: ColumnarBatch): Unit = {
      Arrays.fill(known, 0, highest + 1, -1)
      highest = -1
      dictionaryIds = batch.column(ordinal) match {
        case column: WritableColumnVector if column.hasDictionary => column.getDictionaryIds
        case _ => null
      }
      isCoded = isCoded || asked > rows / 4
      rows = batch.numRows
      asked = 0
      if (isCoded) codeAll(batch)
    }

    override def startRows(): Unit = {
      dictionaryIds = null
      isCoded = false
    }

    private def codeAll(batch: ColumnarBatch): Unit = {
      if (codes.length < rows) codes = new Array[Int](rows)
      var i = 0
      while (i < rows) { codes(i) = readOne(batch.getRow(i)); i += 1 }
    }

    def read(row: InternalRow): Int =
      if (isCoded) codes(row.asInstanceOf[ColumnarBatchRow].rowId)
      else {
        asked += 1
        readOne(row)
      }

    private def readOne(row: InternalRow): Int =
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

    private val isString = dataType == StringType

    def value(row: InternalRow): Any = if (isString) row.getUTF8String(ordinal) else row.get(ordinal, dataType)
  }

  private final class BoxedReader(ordinal: Int, dataType: DataType, keys: Keys)
      extends ColumnReader(ordinal, dataType) {
    def code(row: InternalRow): Int = keys.codeOf(row.get(ordinal, dataType))
  }

  /** Whether an array, map or struct is NULL. It is copied only if its value is asked for. */
  private final class PresenceReader(nested: CopiedValue) extends SlotReader {
    def read(row: InternalRow): Int = if (nested.child.eval(row) == null) Keys.NullCode else 1
    def value(row: InternalRow): Any = nested.eval(row)
  }

  /** `lower(column)` and `upper(column)`, which rules that ignore case are full of. */
  private object CaseOf {
    def unapply(expression: Expression): Option[Int] = expression match {
      case MeteredRow(child, _) => unapply(child)
      case Measured(child, _, _) => unapply(child)
      case Lower(BoundReference(i, StringType, _)) => Some(i)
      case Upper(BoundReference(i, StringType, _)) => Some(i)
      case _ => None
    }
  }

  /** A string and its code. */
  private final class Coded(val text: UTF8String, val code: Int)

  private final class CaseReader(ordinal: Int, expression: Expression, keys: Keys) extends SlotReader {
    private val memo = new StringMemo[Coded]
    private var last: UTF8String = _
    def read(row: InternalRow): Int =
      if (row.isNullAt(ordinal)) Keys.NullCode
      else {
        val text = row.getUTF8String(ordinal)
        val known = memo.get(text)
        if (known != null) {
          last = known.text
          known.code
        } else {
          last = expression.eval(row).asInstanceOf[UTF8String]
          val code = keys.codeOf(last)
          // What Spark returns need not be a string of its own.
          memo.put(text, new Coded(last.copy(), code))
          code
        }
      }
    def value(row: InternalRow): Any = last
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
