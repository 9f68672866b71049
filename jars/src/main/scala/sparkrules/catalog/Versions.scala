package sparkrules.catalog

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.connector.read.{LocalScan, Scan}
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

import sparkrules.store.{Manifest, Store, StoreAccess}

/** The versions of a rule set up to the newest. The driver reads them: a manifest is small. */
final case class Versions(store: String, ruleSet: String, newest: Long)
    extends RuleTable("versions", Versions.Columns) {
  override protected def scan(schema: StructType): Scan = VersionsScan(this, schema)
}

final case class VersionsScan(table: Versions, readSchema: StructType) extends LocalScan {
  override def description: String = s"${table.name} ${readSchema.fieldNames.mkString("[", ", ", "]")}"

  override def rows(): Array[InternalRow] = {
    val store = new Store(table.store, StoreAccess.hadoop(SparkSession.active))
    val numbers = store.versions(table.ruleSet).filter(_ <= table.newest).sorted
    numbers.map(number => row(Manifest.read(store, table.ruleSet, number), number)).toArray
  }

  private def row(manifest: Manifest, number: Long): InternalRow =
    new GenericInternalRow(readSchema.fieldNames.map[Any] {
      case "version" => number
      case "created" => manifest.created
      case "publisher" => UTF8String.fromString(manifest.publisher)
      case "action" => UTF8String.fromString(manifest.action)
      case "parent" => manifest.parent.map(Long.box).orNull
      case "subscriptions" => manifest.subscriptions
      case "predicates" => manifest.predicates
      case "nodes" => manifest.nodes
      case "segments" => manifest.segments.length
      case "default_validity" => manifest.defaultValidity.map(Long.box).orNull
      case "is_newest" => number == table.newest
      case "verified" => manifest.isVerified
      case "general" => manifest.isGeneral
    })
}

object Versions {
  private val Columns = Seq(
    ColumnOf("version", LongType, "number of the version", nullable = false),
    ColumnOf("created", TimestampType, "when it was made", nullable = false),
    ColumnOf("publisher", StringType, "who made it: user and machine", nullable = false),
    ColumnOf("action", StringType, "what made it", nullable = false),
    ColumnOf("parent", LongType, "the version that it was made from"),
    ColumnOf("subscriptions", LongType, "how many subscriptions it has", nullable = false),
    ColumnOf("predicates", LongType, "how many predicates its segments have", nullable = false),
    ColumnOf("nodes", LongType, "how many nodes the forests of its segments have", nullable = false),
    ColumnOf("segments", IntegerType, "how many segments it has", nullable = false),
    ColumnOf("default_validity", LongType, "for how many seconds a subscription is valid that does not say"),
    ColumnOf("is_newest", BooleanType, "whether queries take this version", nullable = false),
    ColumnOf("verified", BooleanType, "whether its files have checksums", nullable = false),
    ColumnOf("general", BooleanType, "whether its rules were pruned, and may match too much", nullable = false))
}
