package sparkrules.store

import java.util.Arrays

import scala.collection.mutable

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow
import org.apache.spark.sql.types.StringType
import org.apache.spark.unsafe.types.UTF8String

/** Some rows of a file, from row number `first` on. */
final class Chunk(val first: Int, val rows: Int, val columns: IndexedSeq[Slice])

/**
 * The Arrow files that a reader has open. It reads some thousand rows at a time: memory does not grow with the file.
 */
final class OpenFiles(val store: Store) extends AutoCloseable {
  private val opened = mutable.Set.empty[ArrowFile]

  /** Rows `from` until `until` of a file that should have `total`. Without columns, reads nothing. */
  def chunks(
      ruleSet: String,
      stored: PublishedFile,
      columns: Seq[StoredColumn],
      from: Int,
      until: Int,
      total: Int): Iterator[Chunk] =
    if (columns.isEmpty) Iterator.single(new Chunk(from, until - from, Vector.empty))
    else chunks(ruleSet, stored, columns, from, _ => until, Some(total))

  /** All rows of a file. */
  def chunks(ruleSet: String, stored: PublishedFile, columns: Seq[StoredColumn]): Iterator[Chunk] =
    chunks(ruleSet, stored, columns, 0, _.rows, None)

  private def chunks(
      ruleSet: String,
      stored: PublishedFile,
      columns: Seq[StoredColumn],
      from: Int,
      until: ArrowFile => Int,
      total: Option[Int]): Iterator[Chunk] = {
    val path = store.pathOf(ruleSet, stored)
    val file = store.naming(path)(open(ruleSet, stored))
    store.naming(path)(total.filter(_ != file.rows).foreach { wanted =>
      throw new IllegalArgumentException(s"it has ${file.rows} rows, not $wanted")
    })
    val pieces =
      for {
        batch <- file.batches.iterator
        end = Math.min(until(file), batch.first + batch.rows)
        start <- Iterator.range(Math.max(from, batch.first), end, OpenFiles.Rows)
      } yield (batch, start, Math.min(start + OpenFiles.Rows, end))
    new Iterator[Chunk] {
      override def hasNext: Boolean = pieces.hasNext || { close(file); false }
      override def next(): Chunk = store.naming(path) {
        val (batch, start, end) = pieces.next()
        val slices = columns.toVector.map(file.slice(batch, _, start - batch.first, end - batch.first))
        new Chunk(start, end - start, slices)
      }
    }
  }

  /** A whole column of strings, in memory as in the file. */
  def texts(ruleSet: String, stored: PublishedFile, column: String): Texts =
    store.naming(store.pathOf(ruleSet, stored)) {
      val file = open(ruleSet, stored)
      try Texts.concat(file.slices(StoredColumn(column, StringType)).collect { case texts: Texts => texts })
      finally close(file)
    }

  /** The string that another file refers to by number. */
  def at(texts: Texts, i: Int, what: String): UTF8String = {
    if (i < 0 || i >= texts.length) throw new IllegalArgumentException(s"there is no $what $i")
    texts.text(i)
  }

  /** Makers of values, whose errors name the file. */
  def naming(
      ruleSet: String, stored: PublishedFile, values: Seq[(Chunk, Int) => Any]): Seq[(Chunk, Int) => Any] = {
    val path = store.pathOf(ruleSet, stored)
    values.map(value => (chunk: Chunk, row: Int) => store.naming(path)(value(chunk, row)))
  }

  def rowCount(ruleSet: String, stored: PublishedFile): Int = store.naming(store.pathOf(ruleSet, stored)) {
    val file = open(ruleSet, stored)
    try file.rows
    finally close(file)
  }

  private def open(ruleSet: String, stored: PublishedFile): ArrowFile = {
    val file = store.arrow(ruleSet, stored)
    opened += file
    file
  }

  private def close(file: ArrowFile): Unit = if (opened.remove(file)) file.close()

  override def close(): Unit = opened.toSeq.foreach(close)
}

object OpenFiles {
  /** About a megabyte of rules. */
  private val Rows = 4096

  /** A row of a table for each row of the chunks that was not removed; `columns` compute its values. */
  def rows(
      chunks: Iterator[Chunk],
      removed: Array[Int],
      columns: Seq[(Chunk, Int) => Any],
      number: (Chunk, Int) => Int = (chunk, row) => chunk.first + row): Iterator[InternalRow] = {
    val makers = columns.toArray
    chunks.flatMap { chunk =>
      val all = Iterator.range(0, chunk.rows)
      val kept = if (removed.isEmpty) all else all.filter(row => Arrays.binarySearch(removed, number(chunk, row)) < 0)
      kept.map { row =>
        val values = new Array[Any](makers.length)
        var i = 0
        while (i < values.length) { values(i) = makers(i)(chunk, row); i += 1 }
        new GenericInternalRow(values)
      }
    }
  }
}
