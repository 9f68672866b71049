package sparkrules.catalog

import scala.collection.mutable

import com.fasterxml.jackson.databind.node.ObjectNode
import org.apache.spark.sql.types.StringType
import org.apache.spark.unsafe.types.UTF8String

import sparkrules.conf.{Listed, RulesException}
import sparkrules.pattern.PatternFile
import sparkrules.store.{Manifest, NewVersion, OpenFiles, RemovedRows, SegmentEntry, Store, StoredColumn, Tickets}

/**
 * Makes a version without some subscriptions of another, and without the patterns that they have as options. The
 * segments stay, also that of the patterns' conditions; the removed rows are listed.
 */
final class Unsubscribe(
    store: Store, ruleSet: String, ids: Seq[String], ticket: Option[String], onlyOwn: Boolean = false) {
  private val tickets = new Tickets(store, ruleSet, ticket.toSeq)

  def from(newest: Manifest, version: NewVersion): ObjectNode = {
    val files = new OpenFiles(store)
    try {
      val wanted = mutable.Set.from(ids.map(UTF8String.fromString))
      val removed = newest.segments.map { entry =>
        val before = store.removed(ruleSet, entry, entry.subscriptions)
        val found = if (wanted.isEmpty) Array.empty[Int] else find(files, entry, before, wanted)
        if (found.isEmpty) None else Some((before ++ found).sorted)
      }
      if (wanted.nonEmpty) refuse(wanted.toSeq.map(id => s"'$id'").sorted)
      val segments = newest.segments.zip(removed).map {
        case (entry, Some(rows)) =>
          val name = version.file("removed", RemovedRows.arrow(rows))
          entry.copy(removed = Some(name), live = entry.subscriptions - rows.length)
        case (entry, None) => entry
      }
      val next = newest.next(newest.version, "unsubscribe", NewVersion.publisher(), segments)
      PatternFile.withoutOptions(store, newest, ids.toSet).foreach {
        case (_, 0) => next.putNull("patterns").putNull("conditions")
        case (content, _) => next.put("patterns", version.file("patterns", content, "json"))
      }
      next
    } finally files.close()
  }

  /** The message is the same for unknown ids and for those with another ticket: it does not reveal which is which. */
  private def refuse(missing: Seq[String]): Nothing = {
    val (how, remedy) =
      if (ticket.isDefined) ("with this ticket", "")
      else ("without a ticket", s" CALL ${RuleCatalog.Name}.unsubscribe('$ruleSet', '...', ticket => '...')")
    throw new RulesException(
      s"Rule set '$ruleSet' has no subscription ${Listed(missing, 5)} that can be removed $how.$remedy")
  }

  /** The rows of the segment whose ids are `wanted`; removes those ids from `wanted`. */
  private def find(
      files: OpenFiles, entry: SegmentEntry, before: Array[Int], wanted: mutable.Set[UTF8String]): Array[Int] = {
    val found = Array.newBuilder[Int]
    val (file, count) = (entry.file("subscriptions"), entry.subscriptions)
    files.chunks(ruleSet, file, Unsubscribe.Columns, 0, count, count).foreach { chunk =>
      val (ids, hashes) = (chunk.columns(0), chunk.columns(1))
      for (row <- 0 until chunk.rows; id = ids.text(row); if wanted(id)) {
        val isLive = java.util.Arrays.binarySearch(before, chunk.first + row) < 0
        val isFree = hashes.isNull(row)
        if (isLive && (if (isFree) !onlyOwn else tickets.matches(hashes.text(row).toString))) {
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
