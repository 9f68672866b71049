package sparkrules.catalog

import scala.collection.mutable

import com.fasterxml.jackson.databind.node.ObjectNode
import org.apache.hadoop.fs.Path

import org.apache.spark.sql.types.StringType
import org.apache.spark.unsafe.types.UTF8String

import sparkrules.{RulesException, Store}

/** A version without some of the subscriptions of another. The segments stay; what is gone is marked. */
final class Unsubscribe(store: Store, ruleSet: String, ids: Seq[String], ticket: Option[String]) {
  private val tickets = new Tickets(store, ruleSet)

  def from(newest: Manifest, version: NewVersion): ObjectNode = {
    val wanted = mutable.Set.from(ids.map(UTF8String.fromString))
    val segments = newest.segments.map(entry => without(entry, wanted, version))
    if (wanted.nonEmpty) {
      val some = wanted.toSeq.map(id => s"'$id'").sorted
      val more = if (some.length > 5) s" and ${some.length - 5} more" else ""
      throw new RulesException(
        s"Rule set '$ruleSet' has no subscription ${some.take(5).mkString(", ")}$more in version ${newest.version}.")
    }
    newest.next(newest.version, "unsubscribe", NewVersion.publisher(), segments)
  }

  /** The segment without the wanted ones that it has, which are then no longer wanted. */
  private def without(entry: SegmentEntry, wanted: mutable.Set[UTF8String], version: NewVersion): SegmentEntry = {
    val files = new OpenFiles(store)
    try {
      val before = files.removed(ruleSet, entry.removed, entry.subscriptions)
      val found = if (wanted.isEmpty) Array.empty[Int] else find(files, entry, before, wanted)
      if (found.isEmpty) entry
      else {
        val removed = (before ++ found).sorted
        val name = version.file("removed", RemovedRows.arrow(removed))
        entry.copy(removed = Some(name), live = entry.subscriptions - removed.length)
      }
    } finally files.close()
  }

  private def find(
      files: OpenFiles, entry: SegmentEntry, before: Array[Int], wanted: mutable.Set[UTF8String]): Array[Int] = {
    val path = new Path(store.path, s"$ruleSet/segments/${entry.name}/subscriptions.arrow")
    val found = Array.newBuilder[Int]
    files.chunks(path, Unsubscribe.Columns, 0, entry.subscriptions, entry.subscriptions).foreach { chunk =>
      val (ids, hashes) = (chunk.columns(0), chunk.columns(1))
      for (row <- 0 until chunk.rows; id = ids.text(row); if wanted(id)) {
        if (java.util.Arrays.binarySearch(before, chunk.first + row) < 0) {
          if (!hashes.isNull(row)) tickets.check(id.toString, hashes.text(row).toString, ticket)
          wanted -= id
          found += chunk.first + row
        }
      }
    }
    found.result()
  }
}

object Unsubscribe {
  private val Columns = Seq(StoredColumn("id", StringType), StoredColumn("ticket", StringType))
}
