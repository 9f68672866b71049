package sparkrules.call

import java.util.Collections

import scala.jdk.CollectionConverters._
import scala.util.control.NonFatal

import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}
import com.fasterxml.jackson.databind.node.{ArrayNode, ObjectNode}
import org.apache.spark.sql.{AnalysisException, Row}
import org.apache.spark.sql.catalyst.{CatalystTypeConverters, InternalRow}
import org.apache.spark.sql.classic.{DataFrame, SparkSession}
import org.apache.spark.sql.functions.{col, struct, to_json}
import org.apache.spark.sql.types._

import sparkrules.conf.{RulesException, Settings}
import sparkrules.store.{Store, StoreAccess}

/** A call with its arguments, and what Python asks about them. */
private[call] final class ProcedureCall(
    procedure: PythonProcedure, session: SparkSession, input: InternalRow, parameters: StructType) {
  private val called = s"sparkrules.${procedure.name}"
  private val store: Store = StoreAccess.of(session)

  def rows(): Array[InternalRow] = {
    store.checked(text("rule_set").getOrElse(throw new RulesException("rule_set is NULL.")))
    parameters.foreach { field =>
      val isGiven = !input.isNullAt(parameters.fieldIndex(field.name))
      if (!isGiven && isRequired(field.name)) throw new RulesException(s"${field.name} is NULL.")
    }
    if (parameters.fieldNames.contains("row") && !parameters("row").dataType.isInstanceOf[StructType]) {
      throw new RulesException("row is a struct of columns: named_struct('temperature', 35, ...)")
    }
    // The owner of a rule renews it with its ticket.
    if (procedure.changesRules) Caller.of(session).check(session, called)
    val call = new ObjectMapper().createObjectNode
    call.put("procedure", procedure.name).put("store", store.qualified)
    call.set[ObjectNode]("arguments", arguments)
    val functions = call.putArray("functions")
    Settings.ExtraFunctions.only(session).split(",").map(_.trim).filter(_.nonEmpty).foreach(functions.add(_))
    table.foreach { df =>
      call.set[ObjectNode]("schema", new ObjectMapper().readTree(df.schema.json))
      df.columns.foreach(call.withArray[ArrayNode]("columns").add(_))
    }
    val front = new FrontEnd(session.sparkContext.getConf, called, Settings.CallSeconds.started(session))
    JsonRow.rows(front.result(call)(answer), procedure.returns)
  }

  private def isRequired(name: String): Boolean =
    name == "rule_set" || procedure.more.exists(own => own.name == name && own.defaultValue == null)

  private def text(name: String): Option[String] =
    Some(parameters.fieldNames.indexOf(name)).filter(i => i >= 0 && !input.isNullAt(i))
      .map(i => input.getUTF8String(i).toString)

  /** The arguments as JSON, except those that only Spark uses. */
  private def arguments: JsonNode = JsonRow.written(input, parameters) match {
    case all: ObjectNode => all.remove(Seq("row").asJava)
    case other => other
  }

  /** The table of the call, as it is now, read as the user who calls. */
  private lazy val table: Option[DataFrame] = text("table").map { name =>
    val df =
      try {
        // What other applications have written to files is not seen otherwise.
        session.catalog.refreshTable(name)
        session.table(name)
      } catch { case NonFatal(e) => throw new RulesException(s"The table $name cannot be read: ${firstLine(e)}", e) }
    // Spark's parser reads one expression: a second statement is an error.
    text("where").fold(df) { where =>
      try df.where(where)
      catch {
        case NonFatal(e) => throw new RulesException(s"where is no condition on $name: ${firstLine(e)}", e)
      }
    }
  }

  private def answer(question: JsonNode, write: String => Unit): Unit =
    if (question.has("columns")) {
      val names = question.get("columns").elements.asScala.map(_.asText).toSeq
      names.foreach { name =>
        if (table.get.schema(name).dataType == BinaryType) {
          throw new RulesException(s"Column $name of table ${text("table").get} is binary: cast it to a string.")
        }
      }
      val columns = names.map(name => col(s"`${name.replace("`", "``")}`"))
      val json = table.get.select(to_json(struct(columns: _*), JsonRow.Options.asJava))
      try json.toLocalIterator().asScala.foreach(row => write(row.getString(0)))
      catch {
        case e: java.io.IOException => throw e
        case NonFatal(e) =>
          throw new RulesException(
            s"The table ${text("table").get} cannot be read, so nothing is changed: ${firstLine(e)}", e)
      }
      write("")
    } else write(truth(question.get("predicates").elements.asScala.map(_.asText).toSeq).mkString("[", ",", "]"))

  /** Whether predicates are true for the row of the call. One that fails is not, as in matching. */
  private def truth(predicates: Seq[String]): Seq[Boolean] = {
    val (i, kind) = (parameters.fieldIndex("row"), parameters("row").dataType.asInstanceOf[StructType])
    val row = CatalystTypeConverters.createToScalaConverter(kind)(input.getStruct(i, kind.length)).asInstanceOf[Row]
    val one = session.createDataFrame(Collections.singletonList(row), kind)
    def truths(some: Seq[String]): Seq[Boolean] = {
      val found = one.selectExpr(some.map(predicate => s"($predicate) IS TRUE"): _*).head()
      some.indices.map(found.getBoolean)
    }
    def halves(some: Seq[String]): Seq[Boolean] =
      try truths(some)
      catch {
        case e: AnalysisException if some.length == 1 =>
          throw new RulesException(s"${some.head}: ${firstLine(e)}", e)
        case NonFatal(_) if some.length == 1 => Seq(false)
        case NonFatal(_) =>
          val (left, right) = some.splitAt(some.length / 2)
          halves(left) ++ halves(right)
      }
    if (predicates.isEmpty) Nil else halves(predicates)
  }

  private def firstLine(e: Throwable): String =
    Option(e.getMessage).flatMap(_.linesIterator.map(_.trim).find(_.nonEmpty)).getOrElse(e.toString)
}
