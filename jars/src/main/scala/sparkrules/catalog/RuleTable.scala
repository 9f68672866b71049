package sparkrules.catalog

import java.util.{EnumSet, Set => JSet}

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.connector.catalog.{Column, SupportsRead, Table, TableCapability}
import org.apache.spark.sql.connector.read.{LocalScan, Scan, ScanBuilder, SupportsPushDownRequiredColumns}
import org.apache.spark.sql.types.{DataType, StructField, StructType}
import org.apache.spark.sql.util.CaseInsensitiveStringMap

import sparkrules.store.{Store, StoreAccess}

/** A column of a table, and its comment for DESCRIBE. A column of a file can be NULL, even where it should not. */
final case class ColumnOf(name: String, dataType: DataType, comment: String, nullable: Boolean = true)

/**
 * A table of the catalog. Tables that are equal have the same rows: each names the version, or the like, that was
 * current when its query was analysed, so that a cached result of an old version never answers a query of a new one.
 */
abstract class RuleTable(table: String, content: Seq[ColumnOf]) extends Table with SupportsRead with Serializable {
  def ruleSet: String

  /** A scan of these columns. */
  protected def scan(schema: StructType): Scan

  override def name: String = s"${RuleCatalog.Name}.$ruleSet.$table"
  override def capabilities: JSet[TableCapability] = EnumSet.of(TableCapability.BATCH_READ)

  /** DESCRIBE reads the comments from here in Spark 4.0, and from `columns` in later versions. */
  override def schema: StructType =
    StructType(content.map(c => StructField(c.name, c.dataType, c.nullable).withComment(c.comment)))

  override def columns: Array[Column] =
    content.map(c => Column.create(c.name, c.dataType, c.nullable, c.comment, null)).toArray

  override def newScanBuilder(options: CaseInsensitiveStringMap): ScanBuilder =
    new SupportsPushDownRequiredColumns {
      private var wanted = schema
      override def pruneColumns(required: StructType): Unit = wanted = required
      override def build(): Scan = scan(wanted)
    }
}

/** A table that the driver reads: it is small. */
abstract class LocalTable(table: String, content: Seq[ColumnOf]) extends RuleTable(table, content) {
  def store: String

  /** For each row what its columns have, by their names. */
  def rows(store: Store): Seq[String => Any]

  override protected def scan(schema: StructType): Scan = LocalTableScan(this, schema)
}

final case class LocalTableScan(table: LocalTable, readSchema: StructType) extends LocalScan {
  override def description: String = s"${table.name} ${readSchema.fieldNames.mkString("[", ", ", "]")}"

  override def rows(): Array[InternalRow] = {
    val rows = table.rows(new Store(table.store, StoreAccess.hadoop(SparkSession.active)))
    rows.map(row => new GenericInternalRow(readSchema.fieldNames.map(row))).toArray
  }
}
