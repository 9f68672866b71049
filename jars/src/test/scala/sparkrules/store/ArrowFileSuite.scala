package sparkrules.store

import java.io.ByteArrayOutputStream
import java.nio.channels.Channels
import java.util.{Arrays, Random}

import scala.util.control.NonFatal

import org.apache.arrow.memory.RootAllocator
import org.apache.arrow.vector.complex.ListVector
import org.apache.arrow.vector.ipc.ArrowFileWriter
import org.apache.arrow.vector.types.TimeUnit
import org.apache.arrow.vector.types.pojo.{ArrowType, Field, FieldType, Schema}
import org.apache.arrow.vector.{BitVector, IntVector, TimeStampMicroTZVector, VarCharVector, VectorSchemaRoot}
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

import sparkrules.Suite

/** Columns of files that Arrow's own writer has written, whole and damaged. */
final class ArrowFileSuite extends Suite {

  private final class Row(
      val number: Option[Int], val flag: Option[Boolean], val text: Option[String], val instant: Option[Long],
      val list: Seq[Int])

  private def randomRow(random: Random): Row = {
    def maybe[A](value: => A): Option[A] = Option.when(random.nextInt(4) > 0)(value)
    val text = Suite.oneOf(random)("", "a", "\u00e4\ud83d\ude00", "long text " * 5)
    new Row(
      maybe(random.nextInt), maybe(random.nextBoolean), maybe(text), maybe(random.nextLong),
      Seq.fill(random.nextInt(4))(random.nextInt))
  }

  private val columns = Seq(
    StoredColumn("number", IntegerType),
    StoredColumn("flag", BooleanType),
    StoredColumn("text", StringType),
    StoredColumn("instant", TimestampType),
    StoredColumn("list", ArrayType(IntegerType)))

  private val schema = {
    val int = new ArrowType.Int(32, true)
    def field(name: String, of: ArrowType, children: Field*): Field =
      new Field(name, FieldType.nullable(of), Arrays.asList(children: _*))
    new Schema(Arrays.asList(
      field("number", int),
      field("flag", new ArrowType.Bool),
      field("text", new ArrowType.Utf8),
      field("instant", new ArrowType.Timestamp(TimeUnit.MICROSECOND, "UTC")),
      field("list", new ArrowType.List, field("item", int))))
  }

  private def written(batches: Seq[Seq[Row]]): Array[Byte] = {
    val allocator = new RootAllocator
    val root = VectorSchemaRoot.create(schema, allocator)
    val bytes = new ByteArrayOutputStream
    val writer = new ArrowFileWriter(root, null, Channels.newChannel(bytes))
    batches.foreach { rows =>
      root.getFieldVectors.forEach(_.reset())
      rows.indices.foreach(i => write(root, i, rows(i)))
      root.setRowCount(rows.length)
      writer.writeBatch()
    }
    writer.end()
    root.close()
    allocator.close()
    bytes.toByteArray
  }

  private def write(root: VectorSchemaRoot, i: Int, row: Row): Unit = {
    row.number.foreach(root.getVector("number").asInstanceOf[IntVector].setSafe(i, _))
    row.flag.foreach(flag => root.getVector("flag").asInstanceOf[BitVector].setSafe(i, if (flag) 1 else 0))
    row.text.foreach(text => root.getVector("text").asInstanceOf[VarCharVector].setSafe(i, text.getBytes("UTF-8")))
    row.instant.foreach(root.getVector("instant").asInstanceOf[TimeStampMicroTZVector].setSafe(i, _))
    val list = root.getVector("list").asInstanceOf[ListVector]
    val start = list.startNewValue(i)
    row.list.indices.foreach(j => list.getDataVector.asInstanceOf[IntVector].setSafe(start + j, row.list(j)))
    list.endValue(i, row.list.length)
  }

  private def read(content: Array[Byte]): ArrowFile =
    new ArrowFile(new CheckedBytes(() => InMemoryInput(content), content.length.toLong, None))

  private def values(slice: Slice): Seq[Any] = (0 until slice.length).map { i =>
    slice.value(i) match {
      case text: UTF8String => text.toString
      case list: Array[Int] => list.toSeq
      case other => other
    }
  }

  private def values(rows: Seq[Row], column: StoredColumn): Seq[Any] = rows.map { row =>
    column.name match {
      case "number" => row.number.getOrElse(null)
      case "flag" => row.flag.getOrElse(null)
      case "text" => row.text.orNull
      case "instant" => row.instant.getOrElse(null)
      case _ => row.list
    }
  }

  test("any rows of any column are what was written") {
    cases(60) { random =>
      val batches = Seq.fill(1 + random.nextInt(3))(Seq.fill(random.nextInt(30))(randomRow(random)))
      val file = read(written(batches))
      checkEqual(file.rows, batches.map(_.length).sum, "rows")
      for (column <- columns; (batch, rows) <- file.batches.zip(batches)) {
        val from = random.nextInt(rows.length + 1)
        val until = from + random.nextInt(rows.length - from + 1)
        val expected = values(rows.slice(from, until), column)
        checkEqual(values(file.slice(batch, column, from, until)), expected, s"${column.name}, $from until $until")
      }
    }
  }

  test("a file that is damaged is an error or other values, and nothing worse") {
    cases(600) { random =>
      val content = written(Seq(Seq.fill(5)(randomRow(random))))
      val damaged = if (random.nextBoolean) content.take(random.nextInt(content.length)) else content.clone()
      if (damaged.length == content.length) {
        (0 to random.nextInt(3)).foreach(_ => damaged(random.nextInt(content.length)) = random.nextInt.toByte)
      }
      try {
        val file = read(damaged)
        columns.foreach(column => file.slices(column).foreach(values))
        check(damaged.length == content.length, s"${damaged.length} of ${content.length} bytes are a file")
      } catch { case NonFatal(_) => }
    }
  }

  test("columns that are not there, or of another type, are named") {
    val file = read(written(Seq(Seq.empty)))
    Seq(StoredColumn("other", IntegerType), StoredColumn("text", IntegerType)).foreach { column =>
      val said = try { file.slices(column); "" } catch { case e: IllegalArgumentException => e.getMessage }
      check(said.contains(s"'${column.name}'"), s"$column: $said")
    }
  }

  test("an optional column that is not there is NULL; one of another type is named") {
    val random = new Random(1)
    val file = read(written(Seq(Seq.fill(9)(randomRow(random)), Seq.fill(17)(randomRow(random)))))
    val missing = file.slices(StoredColumn("other", IntegerType, isOptional = true))
    checkEqual(missing.map(_.length), Seq(9, 17), "rows")
    check(missing.forall(values(_).forall(_ == null)), "a value of no column")
    val said =
      try { file.slices(StoredColumn("text", IntegerType, isOptional = true)); "" }
      catch { case e: IllegalArgumentException => e.getMessage }
    check(said.contains("'text'"), said)
  }
}
