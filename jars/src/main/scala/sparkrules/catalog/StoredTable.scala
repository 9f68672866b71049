package sparkrules.catalog

import java.util.OptionalLong

import org.apache.hadoop.fs.Path

import org.apache.spark.broadcast.Broadcast
import org.apache.spark.sparkrules.UnreadableStore
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.connector.read.{Statistics => _, _}
import org.apache.spark.sql.connector.read.Scan.ColumnarSupportMode
import org.apache.spark.sql.types.StructType
import org.apache.spark.util.SerializableConfiguration

import sparkrules.conf.RulesException
import sparkrules.store.{OpenFiles, Store, StoreAccess}

/** A table that lies in Arrow files of the store. Executors read them; the driver holds none of their rows. */
abstract class StoredTable(table: String, content: Seq[ColumnOf]) extends RuleTable(table, content) {
  def store: String

  /** A part for each task. */
  def parts(store: Store): Seq[InputPartition]

  /** These columns of the rows of a part. */
  def rows(files: OpenFiles, part: InputPartition, columns: Seq[String]): Iterator[InternalRow]

  /** The files that hold most of the table, for an estimate of its size. */
  def files(store: Store): Seq[Path]
  def rowCount(store: Store): Option[Long] = None

  override protected def scan(schema: StructType): Scan = StoredScan(this, schema)
}

final case class StoredScan(table: StoredTable, readSchema: StructType)
    extends Scan with Batch with SupportsReportStatistics {

  @transient private lazy val session = SparkSession.active
  @transient private lazy val opened = new Store(table.store, StoreAccess.hadoop(session))
  @transient private lazy val size =
    table.files(opened).map(file => opened.naming(file)(opened.files.getFileStatus(file).getLen)).sum

  override def description: String = s"${table.name} ${readSchema.fieldNames.mkString("[", ", ", "]")}"
  override def toBatch: Batch = this
  override def columnarSupportMode: ColumnarSupportMode = ColumnarSupportMode.UNSUPPORTED
  override def planInputPartitions(): Array[InputPartition] = table.parts(opened).toArray

  override def createReaderFactory(): PartitionReaderFactory =
    StoredRows(
      table,
      readSchema.fieldNames.toSeq,
      session.sparkContext.broadcast(new SerializableConfiguration(StoreAccess.hadoop(session))))

  override def estimateStatistics: org.apache.spark.sql.connector.read.Statistics =
    new org.apache.spark.sql.connector.read.Statistics {
      override def sizeInBytes: OptionalLong = OptionalLong.of(size)
      override def numRows: OptionalLong = table.rowCount(opened).fold(OptionalLong.empty)(OptionalLong.of)
    }
}

final case class StoredRows(table: StoredTable, columns: Seq[String], hadoop: Broadcast[SerializableConfiguration])
    extends PartitionReaderFactory {

  override def createReader(part: InputPartition): PartitionReader[InternalRow] = new PartitionReader[InternalRow] {
    private val files = new OpenFiles(new Store(table.store, hadoop.value.value))
    private lazy val rows = table.rows(files, part, columns)
    override def next(): Boolean = readable(rows.hasNext)
    override def get(): InternalRow = readable(rows.next())
    override def close(): Unit = files.close()
  }

  private def readable[T](read: => T): T =
    try read
    catch { case e: RulesException => throw new UnreadableStore(e) }
}
