package sparkrules.catalog

import org.apache.hadoop.fs.Path

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.connector.read.InputPartition
import org.apache.spark.sql.types._

import sparkrules.store.{Chunk, Manifest, OpenFiles, PublishedFile, Store, StoredColumn}

/** A table that is one Arrow file, or empty if there is none. */
abstract class StoredFile(table: String, content: Seq[ColumnOf], added: Map[String, Any] = Map.empty)
    extends StoredTable(table, content) {

  def file(store: Store): Option[PublishedFile]

  /** How a column lies in the file. */
  protected def stored(column: ColumnOf): StoredColumn = StoredColumn(column.name, column.dataType)

  /** What the table shows of the values of a column. */
  protected def shown(column: String): Any => Any = identity

  override def files(store: Store): Seq[Path] = file(store).map(store.pathOf(ruleSet, _)).toSeq
  override def parts(store: Store): Seq[InputPartition] = file(store).map(StoredFile.Whole(_)).toSeq

  override def rows(files: OpenFiles, part: InputPartition, columns: Seq[String]): Iterator[InternalRow] = {
    val read = content.filter(c => columns.contains(c.name) && !added.contains(c.name)).map(stored)
    val values = columns.map[(Chunk, Int) => Any] {
      case name if added.contains(name) =>
        val value = added(name)
        (_, _) => value
      case name =>
        val (i, show) = (read.indexWhere(_.name == name), shown(name))
        (chunk, row) => show(chunk.columns(i).value(row))
    }
    OpenFiles.rows(files.chunks(ruleSet, part.asInstanceOf[StoredFile.Whole].file, read), Array.empty, values)
  }
}

object StoredFile {
  final case class Whole(file: PublishedFile) extends InputPartition
}

/** The rules that were rejected when a version was made. */
final case class Rejected(store: String, ruleSet: String, number: Long)
    extends StoredFile("rejected", Rejected.Columns) {
  override def file(store: Store): Option[PublishedFile] = Manifest.read(store, ruleSet, number).rejected
}

object Rejected {
  private val Columns = Seq(
    ColumnOf("id", StringType, "id of the rule"),
    ColumnOf("where", StringType, "its text"),
    ColumnOf("reason", StringType, "why it was rejected"),
    ColumnOf("line", IntegerType, "where in the text, from 1"),
    ColumnOf("column", IntegerType, "where in the line, from 1"))
}

/** The advertisements of a version: what its sources say they will send. */
final case class Advertisements(store: String, ruleSet: String, number: Long)
    extends StoredFile("advertisements", Advertisements.Columns) {
  override def file(store: Store): Option[PublishedFile] =
    Manifest.read(store, ruleSet, number).advertisements.map(_.file("subscriptions"))
}

object Advertisements {
  private val Columns = Seq(
    ColumnOf("id", StringType, "id of the advertisement"),
    ColumnOf("where", StringType, "its text, as it was written"),
    ColumnOf("sql", StringType, "the text as Spark SQL, if it was not written as such"))
}

/** What `RuleSet.analyze` has counted, if it was called. */
final case class AnalyzedRanges(store: String, ruleSet: String, number: Option[Int])
    extends StoredFile("statistics", AnalyzedRanges.Columns, Map("number" -> number.getOrElse(0))) {
  override def file(store: Store): Option[PublishedFile] = number.map(store.statisticsFile(ruleSet, _))

  // Older versions of sparkrules did not measure; the newer ones write 0 for what is only read.
  override protected def stored(column: ColumnOf): StoredColumn =
    super.stored(column).copy(isOptional = column.name == AnalyzedRanges.Time)

  override protected def shown(column: String): Any => Any =
    if (column == AnalyzedRanges.Time) time => if (time == 0) null else time else super.shown(column)
}

object AnalyzedRanges {
  private val Time = "nanoseconds"

  private val Columns = Seq(
    ColumnOf("number", IntegerType, "number of the analysis", nullable = false),
    ColumnOf("attribute", StringType, "the attribute, as SQL"),
    ColumnOf("position", IntegerType, "the range: -1 not computed, 0 NULL, 1 below the first constant"),
    ColumnOf("lower", StringType, "the range's lower bound"),
    ColumnOf("upper", StringType, "the range's upper bound"),
    ColumnOf("rows", IntegerType, "how many sampled rows lie in it"),
    ColumnOf("total", IntegerType, "how many rows were sampled"),
    ColumnOf(Time, IntegerType, "how long it takes to compute the attribute for a row; NULL if it is a column"))
}
