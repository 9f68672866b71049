package sparkrules.catalog

import org.apache.hadoop.fs.Path

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.connector.read.InputPartition
import org.apache.spark.sql.types._

import sparkrules.store.{Manifest, OpenFiles, Store}

/**
 * The share of rows that each rule of a version matches, estimated. A task estimates those of one segment, which it
 * needs as a whole: a table of its own, so that reading the subscriptions does not cost that.
 *
 * @param statistics the number of the statistics that it is estimated from, if the rule set has been analysed
 */
final case class SelectivityTable(store: String, ruleSet: String, number: Long, statistics: Option[Int])
    extends StoredTable("selectivity", SelectivityTable.Columns) {

  override def rowCount(store: Store): Option[Long] = Some(manifest(store).subscriptions)
  override def files(store: Store): Seq[Path] =
    manifest(store).segments.map(entry => store.pathOf(ruleSet, entry.file("nodes")))
  override def parts(store: Store): Seq[InputPartition] = manifest(store).segments.map(Predicates.OfSegment(_))

  override def rows(files: OpenFiles, part: InputPartition, columns: Seq[String]): Iterator[InternalRow] = {
    val entry = part.asInstanceOf[Predicates.OfSegment].segment
    val segment = files.store.segment(ruleSet, entry)
    val removed = files.store.removed(ruleSet, entry, segment.rules.size)
    lazy val estimates = new Selectivities(segment.forest, counted(files.store))
    def estimate(of: (Selectivities, Int) => Double): Int => Any = row => of(estimates, segment.rules.nodes(row))
    val values = columns.map[Int => Any] {
      case "id" => segment.rules.ids(_)
      case "min" => estimate(_.min(_))
      case "avg" => estimate(_.avg(_))
      case _ => estimate(_.max(_))
    }
    Iterator.range(0, segment.rules.size).filter(java.util.Arrays.binarySearch(removed, _) < 0).map { row =>
      InternalRow.fromSeq(values.map(_(row)))
    }
  }

  private def counted(store: Store): Option[CountedPredicates] =
    for (own <- statistics; tests <- store.countedTests(ruleSet, own))
      yield new CountedPredicates(store.statistics(ruleSet, own), tests)

  private def manifest(store: Store): Manifest = Manifest.read(store, ruleSet, number)
}

object SelectivityTable {
  val Columns: Seq[ColumnOf] = Seq(
    ColumnOf("id", StringType, "id of the subscription"),
    ColumnOf("min", DoubleType, "the least share of rows that it can match", nullable = false),
    ColumnOf("avg", DoubleType, "the share of rows that it probably matches", nullable = false),
    ColumnOf("max", DoubleType, "the largest share of rows that it can match", nullable = false))
}
