package sparkrules.catalog

import org.apache.hadoop.fs.Path

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.connector.read.InputPartition
import org.apache.spark.sql.types._

import sparkrules.conf.RulesException
import sparkrules.store.{Chunk, Manifest, OpenFiles, SegmentEntry, Store, StoredColumn, Texts}

/** The advertisements and rules of a version that overlap, as its publisher has computed them. */
final case class Overlaps(store: String, ruleSet: String, number: Long)
    extends StoredTable("overlaps", Overlaps.Columns) {
  import Overlaps._

  override def files(store: Store): Seq[Path] =
    manifest(store).segments.flatMap(_.overlapsFile).map(store.pathOf(ruleSet, _))

  /** A task reads the pairs of one segment. */
  override def parts(store: Store): Seq[InputPartition] = {
    val own = manifest(store)
    val segments = own.segments.filter(_.live > 0)
    own.advertisements.toSeq.flatMap { advertisements =>
      if (segments.exists(_.overlaps.isEmpty)) {
        throw new RulesException(
          s"Which advertisements and rules of $ruleSet@$number overlap has not been computed: there are too " +
            s"many. In Python, RuleSet.load('$ruleSet', '${store.path}').publish(overlaps=True) computes it.")
      }
      segments.map(OfSegment(_, advertisements))
    }
  }

  override def rows(files: OpenFiles, part: InputPartition, columns: Seq[String]): Iterator[InternalRow] = {
    val OfSegment(entry, advertised) = part.asInstanceOf[OfSegment]
    def idsOf(segment: SegmentEntry): Texts = files.texts(ruleSet, segment.file("subscriptions"), "id")
    lazy val advertisements = idsOf(advertised)
    lazy val subscriptions = idsOf(entry)
    val pairs = entry.overlapsFile.get // a segment without it is no part
    val values = columns.map[(Chunk, Int) => Any] {
      case "advertisement" => (chunk, row) => files.at(advertisements, chunk.columns(0).ints(row), "advertisement")
      case "subscription" => (chunk, row) => files.at(subscriptions, chunk.columns(1).ints(row), "subscription")
      case _ => (chunk, row) => chunk.columns(2).value(row)
    }
    val removed = files.store.removed(ruleSet, entry, entry.subscriptions)
    val named = files.naming(ruleSet, pairs, values)
    OpenFiles.rows(files.chunks(ruleSet, pairs, Stored), removed, named, (chunk, row) => chunk.columns(1).ints(row))
  }

  private def manifest(store: Store): Manifest = Manifest.read(store, ruleSet, number)
}

object Overlaps {
  val Columns: Seq[ColumnOf] = Seq(
    ColumnOf("advertisement", StringType, "id of the advertisement"),
    ColumnOf("subscription", StringType, "id of a subscription that may match its rows"),
    ColumnOf("certain", BooleanType, "whether there certainly is a row that matches both"))

  private val Stored = Seq(
    StoredColumn("advertisement", IntegerType),
    StoredColumn("subscription", IntegerType),
    StoredColumn("certain", BooleanType))

  final case class OfSegment(segment: SegmentEntry, advertisements: SegmentEntry) extends InputPartition
}
