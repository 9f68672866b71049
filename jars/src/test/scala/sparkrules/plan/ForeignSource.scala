package sparkrules.plan

import java.io.{IOException, UncheckedIOException}
import java.util

import scala.jdk.CollectionConverters._

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.connector.catalog.{SupportsRead, Table, TableCapability, TableProvider}
import org.apache.spark.sql.connector.expressions.Transform
import org.apache.spark.sql.connector.read._
import org.apache.spark.sql.execution.{LeafExecNode, SparkPlan, SparkStrategy}
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2ScanRelation
import org.apache.spark.sql.execution.vectorized.OnHeapColumnVector
import org.apache.spark.sql.types._
import org.apache.spark.sql.util.CaseInsensitiveStringMap
import org.apache.spark.sql.vectorized.{ColumnVector, ColumnarArray, ColumnarBatch, ColumnarMap}
import org.apache.spark.unsafe.types.UTF8String

/**
 * A data source whose batches consist of columns of its own. Option `kind`:
 *
 *   - plain: new columns for each batch
 *   - reused: the same batch, columns and bytes of strings again and again
 *   - freed: columns that cannot be read once they are closed, and must be closed
 *   - late: a column that is read when it is asked for, and cannot be read from a certain row on
 *   - mixed: every other batch consists of Spark's own columns
 *   - elsewhere: [[ElsewhereStrategy]] plans an operator of its own for it
 */
final class ForeignSource extends TableProvider {
  override def inferSchema(options: CaseInsensitiveStringMap): StructType = Foreign.Schema
  override def getTable(schema: StructType, transforms: Array[Transform], options: util.Map[String, String]): Table =
    new ForeignTable(new CaseInsensitiveStringMap(options).getOrDefault("kind", "plain"))
}

final class ForeignTable(val kind: String) extends Table with SupportsRead {
  override def name: String = s"foreign $kind"
  @deprecated("by Spark", "3.4") override def schema: StructType = Foreign.Schema
  override def capabilities: util.Set[TableCapability] = Set(TableCapability.BATCH_READ).asJava
  override def newScanBuilder(options: CaseInsensitiveStringMap): ScanBuilder = () => new ForeignScan(kind)
}

final class ForeignScan(val kind: String) extends Scan with Batch {
  override def readSchema: StructType = Foreign.Schema
  override def toBatch: Batch = this
  override def planInputPartitions: Array[InputPartition] =
    Array.tabulate(Foreign.Partitions)(p => new ForeignPartition(p * Foreign.Rows / Foreign.Partitions))
  override def createReaderFactory: PartitionReaderFactory = new ForeignReaders(kind)
}

final class ForeignPartition(val first: Int) extends InputPartition

final class ForeignReaders(kind: String) extends PartitionReaderFactory {
  override def supportColumnarReads(partition: InputPartition): Boolean = true
  override def createReader(partition: InputPartition): PartitionReader[InternalRow] =
    throw new UnsupportedOperationException("rows")
  override def createColumnarReader(partition: InputPartition): PartitionReader[ColumnarBatch] =
    new PartitionReader[ColumnarBatch] {
      private val batches = Foreign.batches(kind, partition.asInstanceOf[ForeignPartition].first)
      override def next(): Boolean = batches.hasNext
      override def get(): ColumnarBatch = batches.next()
      override def close(): Unit = ()
    }
}

object Foreign {
  val (rowsOfBatch, batchesOfPartition) = (50, 6)
  val Partitions = 2
  val Rows: Int = Partitions * batchesOfPartition * rowsOfBatch

  /** Counts columns of kind `freed` in a system property: executors have a class loader of their own. */
  def count(property: String): Unit = System.getProperties.synchronized {
    System.setProperty(property, (Integer.getInteger(property, 0) + 1).toString)
  }

  val Schema: StructType = new StructType()
    .add("row", LongType)
    .add("n", IntegerType)
    .add("s", StringType)
    .add("d", DoubleType)
    .add("e", DecimalType(20, 2))
    .add("b", BooleanType)
    .add("a", ArrayType(IntegerType))
    .add("t", new StructType().add("x", IntegerType).add("y", StringType))

  private def unless(isNull: Boolean)(value: => Any): Any = if (isNull) null else value

  /** Column c of row r. Of an array, its length. */
  def value(c: Int, r: Int): Any = c match {
    case 0 => r.toLong
    case 1 => unless(r % 7 == 0)(r % 100)
    case 2 => unless(r % 5 == 0)(UTF8String.fromString(s"text ${r % 20}"))
    case 3 => unless(r % 11 == 0)(if (r % 13 == 0) Double.NaN else if (r % 17 == 0) -0.0 else (r % 40) * 0.5)
    case 4 => unless(r % 3 == 0)(Decimal(BigDecimal(r % 90) + BigDecimal("0.25"), 20, 2))
    case 5 => unless(r % 6 == 0)(r % 2 == 0)
    case 6 => unless(r % 4 == 0)(r % 4)
    case 7 => unless(r % 8 == 0)("a struct")
  }

  def element(r: Int): Any = unless(r % 9 == 0)(r % 10)
  def field(c: Int, r: Int): Any =
    if (c == 0) unless(r % 10 == 0)(r % 30) else unless(r % 12 == 0)(UTF8String.fromString(s"inner ${r % 6}"))

  def batches(kind: String, first: Int): Iterator[ColumnarBatch] = {
    lazy val columns = Array.tabulate[ColumnVector](Schema.length)(new TopColumn(kind, _))
    lazy val again = new ColumnarBatch(columns, rowsOfBatch)
    Iterator.tabulate(batchesOfPartition) { number =>
      val start = first + number * rowsOfBatch
      if (kind == "reused") {
        columns.foreach(_.asInstanceOf[TopColumn].start = start)
        again
      } else if (kind == "mixed" && number % 2 == 0) own(start)
      else {
        val made = Array.tabulate[ColumnVector](Schema.length) { c =>
          val column = new TopColumn(kind, c)
          column.start = start
          column
        }
        new ColumnarBatch(made, rowsOfBatch)
      }
    }
  }

  /** The same in columns of Spark. */
  private def own(start: Int): ColumnarBatch = {
    val vectors = OnHeapColumnVector.allocateColumns(rowsOfBatch, Schema)
    var elements = 0
    for (c <- vectors.indices; i <- 0 until rowsOfBatch) put(vectors(c), i, value(c, start + i))
    def put(vector: OnHeapColumnVector, i: Int, value: Any): Unit = (vector.dataType, value) match {
      case (_, null) => vector.putNull(i)
      case (LongType, v: Long) => vector.putLong(i, v)
      case (IntegerType, v: Int) => vector.putInt(i, v)
      case (StringType, v: UTF8String) => vector.putByteArray(i, v.getBytes)
      case (DoubleType, v: Double) => vector.putDouble(i, v)
      case (_: DecimalType, v: Decimal) => vector.putDecimal(i, v, 20)
      case (BooleanType, v: Boolean) => vector.putBoolean(i, v)
      case (_: ArrayType, length: Int) =>
        vector.putArray(i, elements, length)
        val all = vector.arrayData.asInstanceOf[OnHeapColumnVector]
        all.reserve(elements + length)
        for (k <- 0 until length) put(all, elements + k, element(start + i + k))
        elements += length
      case (_, _) => for (f <- 0 to 1) put(vector.getChild(f).asInstanceOf[OnHeapColumnVector], i, field(f, start + i))
    }
    new ColumnarBatch(vectors.map(v => v: ColumnVector), rowsOfBatch)
  }
}

/** Only what every column must have. */
abstract class ForeignColumn(dataType: DataType, kind: String) extends ColumnVector(dataType) {
  private val bytes = new Array[Byte](64)
  private var isClosed = false
  if (kind == "freed") Foreign.count("foreign.made")

  def at(i: Int): Any
  private def read[A](i: Int): A = {
    if (isClosed) throw new IllegalStateException("this column was closed")
    at(i).asInstanceOf[A]
  }

  override def close(): Unit = if (kind == "freed" && !isClosed) {
    isClosed = true
    Foreign.count("foreign.closed")
  }
  override def hasNull: Boolean = true
  override def numNulls: Int = throw new UnsupportedOperationException("numNulls")
  override def isNullAt(i: Int): Boolean = read[Any](i) == null
  override def getBoolean(i: Int): Boolean = read(i)
  override def getByte(i: Int): Byte = read(i)
  override def getShort(i: Int): Short = read(i)
  override def getInt(i: Int): Int = read(i)
  override def getLong(i: Int): Long = read(i)
  override def getFloat(i: Int): Float = read(i)
  override def getDouble(i: Int): Double = read(i)
  override def getDecimal(i: Int, precision: Int, scale: Int): Decimal = read(i)
  override def getBinary(i: Int): Array[Byte] = throw new UnsupportedOperationException("binary")
  override def getMap(i: Int): ColumnarMap = throw new UnsupportedOperationException("map")
  override def getArray(i: Int): ColumnarArray = throw new UnsupportedOperationException("array")
  override def getChild(c: Int): ColumnVector = throw new UnsupportedOperationException("child")
  override def getUTF8String(i: Int): UTF8String = {
    val text = read[UTF8String](i)
    if (kind != "reused" || text == null) text
    else {
      val own = text.getBytes
      System.arraycopy(own, 0, bytes, 0, own.length)
      UTF8String.fromBytes(bytes, 0, own.length)
    }
  }
}

final class TopColumn(kind: String, c: Int) extends ForeignColumn(Foreign.Schema(c).dataType, kind) {
  var start = 0
  override def at(i: Int): Any = {
    if (kind == "late" && c == 2 && start + i >= 500) {
      throw new UncheckedIOException(new IOException("the file is gone"))
    }
    Foreign.value(c, start + i)
  }
  override def getArray(i: Int): ColumnarArray = {
    val elements = new ForeignColumn(IntegerType, "") {
      override def at(k: Int): Any = Foreign.element(start + i + k)
    }
    new ColumnarArray(elements, 0, at(i).asInstanceOf[Int])
  }
  override def getChild(f: Int): ColumnVector =
    new ForeignColumn(Foreign.Schema(c).dataType.asInstanceOf[StructType](f).dataType, "") {
      override def at(i: Int): Any = Foreign.field(f, start + i)
    }
}

/** Plans an operator of another library, which gives columns. */
object ElsewhereStrategy extends SparkStrategy {
  def addTo(spark: SparkSession): Unit = spark.experimental.extraStrategies = Seq(this)
  def removeFrom(spark: SparkSession): Unit = spark.experimental.extraStrategies = Nil

  override def apply(plan: LogicalPlan): Seq[SparkPlan] = plan match {
    case relation: DataSourceV2ScanRelation => relation.scan match {
        case scan: ForeignScan if scan.kind == "elsewhere" => ElsewhereExec(relation.output) :: Nil
        case _ => Nil
      }
    case _ => Nil
  }
}

final case class ElsewhereExec(output: Seq[Attribute]) extends LeafExecNode {
  override def supportsColumnar: Boolean = true
  override protected def doExecute(): RDD[InternalRow] = throw new UnsupportedOperationException("rows")
  override protected def doExecuteColumnar(): RDD[ColumnarBatch] =
    sparkContext.parallelize(Seq(0, Foreign.Rows / 2), 2).flatMap(Foreign.batches("plain", _))
}
