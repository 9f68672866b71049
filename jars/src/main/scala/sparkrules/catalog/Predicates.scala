package sparkrules.catalog

import org.apache.hadoop.fs.Path

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.util.GenericArrayData
import org.apache.spark.sql.connector.read.InputPartition
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

import sparkrules.store.{Chunk, Manifest, OpenFiles, PublishedFile, SegmentEntry, Store, StoredColumn}

/** The predicates of the rules of a version. A task reads those of one segment. */
final case class Predicates(store: String, ruleSet: String, number: Long)
    extends StoredTable("predicates", Predicates.Columns) {
  import Predicates._

  override def files(store: Store): Seq[Path] =
    parts(store).map(part => store.pathOf(ruleSet, part.segment.file("predicates")))
  override def parts(store: Store): Seq[OfSegment] =
    Manifest.read(store, ruleSet, number).segments.map(OfSegment(_))

  override def rows(files: OpenFiles, part: InputPartition, columns: Seq[String]): Iterator[InternalRow] = {
    val segment = part.asInstanceOf[OfSegment].segment
    def textsOf(table: String, column: String) = files.texts(ruleSet, segment.file(table), column)
    // Of the tables that predicates refer to, hold only the columns that are needed, as bytes.
    lazy val attributes = textsOf("attributes", "sql")
    lazy val (kinds, texts) = (textsOf("constants", "kind"), textsOf("constants", "text"))
    lazy val useCounts = usesOf(files, segment.file("nodes"), files.rowCount(ruleSet, segment.file("predicates")))

    def attribute(chunk: Chunk, row: Int): UTF8String =
      files.at(attributes, chunk.columns(0).ints(row), "attribute")
    def operator(chunk: Chunk, row: Int): UTF8String = chunk.columns(1).text(row)
    def constants(chunk: Chunk, row: Int): Array[(String, UTF8String)] =
      chunk.columns(2).list(row).map(c => (files.at(kinds, c, "constant").toString, files.at(texts, c, "constant")))

    val values = columns.map[(Chunk, Int) => Any] {
      case "attribute" => attribute
      case "operator" => operator
      case "constants" => (chunk, row) =>
          new GenericArrayData(constants(chunk, row).map { case (kind, text) => if (kind == "null") null else text })
      case "predicate" => (chunk, row) =>
          val written =
            constants(chunk, row).toSeq.map { case (kind, text) => PredicateText.constant(kind, text.toString) }
          UTF8String.fromString(PredicateText(attribute(chunk, row).toString, operator(chunk, row).toString, written))
      case "uses" => (chunk, row) => useCounts(chunk.first + row).toLong
      case _ =>
        val name = UTF8String.fromString(segment.name)
        (_, _) => name
    }
    val file = segment.file("predicates")
    OpenFiles.rows(files.chunks(ruleSet, file, Stored), Array.empty, files.naming(ruleSet, file, values))
  }

  /** Per predicate: the use count of its node. */
  private def usesOf(files: OpenFiles, nodes: PublishedFile, predicates: Int): Array[Int] = {
    val uses = new Array[Int](predicates)
    files.chunks(ruleSet, nodes, OfNode).foreach { chunk =>
      val (numbers, counts) = (chunk.columns(0).ints, chunk.columns(1).ints)
      numbers.indices.foreach { i =>
        files.store.naming(files.store.pathOf(ruleSet, nodes))(if (numbers(i) >= predicates) {
          throw new IllegalArgumentException(s"there is no predicate ${numbers(i)}")
        })
        if (numbers(i) >= 0) uses(numbers(i)) = counts(i)
      }
    }
    uses
  }
}

object Predicates {
  val Columns: Seq[ColumnOf] = Seq(
    ColumnOf("attribute", StringType, "the attribute, as SQL", nullable = false),
    ColumnOf("operator", StringType, "the operator", nullable = false),
    ColumnOf("constants", ArrayType(StringType), "the constants", nullable = false),
    ColumnOf("predicate", StringType, "the whole predicate, as SQL", nullable = false),
    ColumnOf("uses", LongType, "how many subscriptions of the segment use it, removed ones included", nullable = false),
    ColumnOf("segment", StringType, "the segment of the store where it lies", nullable = false))

  private val Stored = Seq(
    StoredColumn("attribute", IntegerType),
    StoredColumn("operator", StringType),
    StoredColumn("constants", ArrayType(IntegerType)))
  private val OfNode = Seq(StoredColumn("predicate", IntegerType), StoredColumn("use_count", IntegerType))

  final case class OfSegment(segment: SegmentEntry) extends InputPartition
}
