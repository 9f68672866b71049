package sparkrules.plan

import org.apache.spark.sql.{Encoders, Row}
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.streaming.{OutputMode, TimeMode}
import org.apache.spark.sql.types.{StructType, TimestampNTZType, TimestampType}

import sparkrules.conf.{RulesException, Settings}
import sparkrules.pattern.{Detections, PatternProcessor, Patterns, SortedRows}

/**
 * `detect_patterns('alerts', TABLE(events), time => 'ts')` as a plan: rows become events, events are grouped by pattern
 * and key, and each group is looked at in the order of time. In a batch Spark sorts the groups, in a stream its state
 * store keeps them.
 */
private object DetectTable {
  private val Function = "detect_patterns"

  /** @param call what the rules see of the table's rows */
  def apply(table: LogicalPlan, call: MatchCall, timeName: String, idName: Option[String]): LogicalPlan = {
    val time = column(table, "time", timeName)
    val id = idName.map(column(table, "id", _))
    if (time.dataType != TimestampType && time.dataType != TimestampNTZType) {
      throw new RulesException(
        s"$Function: time => '$timeName' is a column of the type ${time.dataType.sql}, and times are of the type " +
          s"TIMESTAMP: cast it, as in $Function(TABLE(SELECT *, CAST($timeName AS TIMESTAMP) AS at FROM t), time => " +
          "'at').")
    }
    id.foreach(PatternColumns.text(_, s"$Function: id => '${idName.get}'")) // fails where it names no row
    if (table.isStreaming) checkStream(time, timeName)
    val events = PatternCall(call.site, call.inputs, time, id)
    val columns = PatternCall.Events.elementType.asInstanceOf[StructType]
      .map(field => AttributeReference(field.name, field.dataType, field.nullable)())
    val generated = Generate(Inline(events), Nil, outer = false, None, columns, table)
    // The column of the time keeps its metadata, by which Spark knows the watermark.
    val all = Seq(Alias(time, Detections.Time)(), Alias(EndOfTime(time), Detections.Until)()) ++ columns
    val shape = Detections.of(time.dataType)
    // Spark's operators over groups read the columns of a row by their places.
    val places = shape.events.schema.fieldNames :+ Detections.Key
    grouped(Project(places.map(name => all.find(_.name == name).get).toSeq, generated), shape)
  }

  private def grouped(rows: Project, shape: Detections): LogicalPlan = {
    def attribute(name: String): Attribute = rows.output.find(_.name == name).get
    val key = Seq(attribute(Detections.Key))
    val data = rows.output.init
    val none = Patterns(Nil) // until they are known
    if (rows.isStreaming) {
      val most = Settings.PatternRows.get(SQLConf.get)
      TransformWithState[String, Row, Row](
        key, data, PatternProcessor(none, shape, most), TimeMode.EventTime(), OutputMode.Append(), rows)(
        Encoders.STRING, shape.events, shape.detections)
    } else {
      val order = Seq(Detections.Time, Detections.Id, Detections.Steps, Detections.Value)
        .map(name => SortOrder(attribute(name), Ascending))
      MapGroups[String, Row, Row](SortedRows(none, shape), key, data, order, rows)(
        Encoders.STRING, shape.events, shape.detections)
    }
  }

  private def column(table: LogicalPlan, argument: String, name: String): NamedExpression =
    PatternColumns.resolved(table, name).getOrElse(
      throw new RulesException(
        s"$Function: $argument => '$name' is not a column of the table. It has: " +
          s"${table.output.map(_.name).mkString(", ")}."))

  private def checkStream(time: NamedExpression, name: String): Unit = {
    if (!time.metadata.contains(EventTimeWatermark.delayKey)) {
      throw new RulesException(
        s"$Function: the stream has no watermark on '$name'. It says how late rows may come: " +
          s"""df.withWatermark("$name", "10 minutes").""")
    }
    val provider = SparkSession.active.sessionState.conf.stateStoreProviderClass
    if (!provider.endsWith("RocksDBStateStoreProvider")) {
      throw new RulesException(
        s"$Function: patterns over a stream keep their state in RocksDB. Set it before the stream starts: " +
          s"""spark.conf.set("${SQLConf.STATE_STORE_PROVIDER_CLASS.key}", """ +
          """"org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider").""")
    }
  }
}
