package sparkrules.catalog

import java.util.{EnumSet, Set => JSet}

import org.apache.spark.sql.connector.catalog.{Column, SupportsRead, Table, TableCapability}
import org.apache.spark.sql.connector.read.{Scan, ScanBuilder, SupportsPushDownRequiredColumns}
import org.apache.spark.sql.types.{DataType, StructField, StructType}
import org.apache.spark.sql.util.CaseInsensitiveStringMap

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
