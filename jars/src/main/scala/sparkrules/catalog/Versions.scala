package sparkrules.catalog

import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

import sparkrules.store.{Manifest, Store}

/** The versions of a rule set up to the newest. The driver reads them: a manifest is small. */
final case class Versions(store: String, ruleSet: String, newest: Long)
    extends LocalTable("versions", Versions.Columns) {

  override def rows(store: Store): Seq[String => Any] =
    store.versions(ruleSet).filter(_ <= newest).sorted.map(number => row(Manifest.read(store, ruleSet, number), number))

  private def row(manifest: Manifest, number: Long): String => Any = {
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
    case "is_newest" => number == newest
    case "verified" => manifest.isVerified
    case "general" => manifest.isGeneral
  }
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
