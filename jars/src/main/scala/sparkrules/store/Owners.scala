package sparkrules.store

import java.util.Arrays

import org.apache.spark.sql.types.{ArrayType, IntegerType, StringType, TimestampType}
import org.apache.spark.unsafe.types.UTF8String

/** Compares the rules with a ticket of two versions. */
final class Owners(store: Store, ruleSet: String) {
  import Owners._

  /** The hashes of the tickets of the rules that only one of the versions has, or that differ. */
  def changed(one: Manifest, other: Manifest): Set[String] = {
    val (before, after) = (owned(one, other), owned(other, one))
    def only(own: Map[UTF8String, Seq[Any]], others: Map[UTF8String, Seq[Any]]): Iterable[String] =
      own.collect { case (id, content) if !others.get(id).contains(content) => content.head.toString }
    (only(before, after) ++ only(after, before)).toSet
  }

  /** The rules with a ticket by id, without those that the other version has in the same place. */
  private def owned(manifest: Manifest, other: Manifest): Map[UTF8String, Seq[Any]] = {
    val files = new OpenFiles(store)
    try {
      manifest.segments.flatMap { entry =>
        val same = other.segments.find(_.name == entry.name)
        if (same.exists(_.removed == entry.removed)) Nil else rows(files, entry, same).toSeq
      }.toMap
    } finally files.close()
  }

  private def rows(
      files: OpenFiles, entry: SegmentEntry, same: Option[SegmentEntry]): Iterator[(UTF8String, Seq[Any])] = {
    val gone = store.removed(ruleSet, entry, entry.subscriptions)
    val goneThere = same.map(there => store.removed(ruleSet, there, entry.subscriptions))
    val rules = entry.file("subscriptions")
    files.chunks(ruleSet, rules, Columns, 0, entry.subscriptions, entry.subscriptions).flatMap { chunk =>
      val tickets = chunk.columns(1)
      for {
        row <- Iterator.range(0, chunk.rows)
        if !tickets.isNull(row)
        number = chunk.first + row
        if !isIn(gone, number) && goneThere.forall(isIn(_, number))
      } yield chunk.columns(0).text(row) -> chunk.columns.tail.map(_.value(row))
    }
  }

  private def isIn(rows: Array[Int], row: Int): Boolean = Arrays.binarySearch(rows, row) >= 0
}

object Owners {
  private val Columns = Seq(
    StoredColumn("id", StringType),
    StoredColumn("ticket", StringType),
    StoredColumn("where", StringType),
    StoredColumn("sql", StringType),
    StoredColumn("metadata", StringType),
    StoredColumn("priority", IntegerType),
    StoredColumn("valid_from", TimestampType),
    StoredColumn("valid_until", TimestampType),
    StoredColumn("status", StringType, isOptional = true),
    StoredColumn("tags", ArrayType(StringType), isOptional = true))
}
