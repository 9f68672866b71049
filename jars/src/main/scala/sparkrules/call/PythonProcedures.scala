package sparkrules.call

import org.apache.spark.sql.connector.catalog.procedures.{ProcedureParameter, UnboundProcedure}
import org.apache.spark.sql.types._

/** The procedures that the Python front end runs. */
object PythonProcedures {
  private def required(name: String, kind: DataType, comment: String): ProcedureParameter =
    ProcedureParameter.in(name, kind).comment(comment).build()

  private def optional(name: String, kind: DataType, comment: String, default: String = "NULL"): ProcedureParameter =
    ProcedureParameter.in(name, kind).defaultValue(s"CAST($default AS ${kind.sql})").comment(comment).build()

  private val Texts = ArrayType(StringType)
  private val Dialect = optional("dialect", StringType, "SQL dialect of the texts", "'spark'")
  private val Id = required("id", StringType, "id of the subscription")
  private val Made = new StructType()
    .add("rule_set", StringType, nullable = false).add("version", LongType, nullable = false)
    .add("subscriptions", LongType, nullable = false)

  val All: Seq[UnboundProcedure] = Seq(
    PythonProcedure(
      "subscribe",
      "subscribe(rule_set, id, where, ...): make a version with this subscription",
      Seq(
        Id,
        required("where", StringType, "the rule: an expression as after WHERE"),
        optional("priority", IntegerType, "matches are ordered by it, highest first", "0"),
        optional("metadata", StringType, "a map or a struct, or an object as JSON"),
        optional("valid_from", TimestampType, "matches from this instant on"),
        optional("valid_until", TimestampType, "matches until this instant"),
        optional("status", StringType, "live, shadow or draft"),
        optional("tags", Texts, "its tags"),
        optional("on_change", Texts, "columns: a pattern that detects when it becomes true for their values"),
        optional("suppress", StringType, "how long further matches are only counted, such as '10 minutes'"),
        optional("by", Texts, "columns, with suppress: for equal values of these"),
        optional("ticket", BooleanType, "whether to return a secret, without which nobody can remove it", "false"),
        optional("replace", BooleanType, "whether it takes the place of one with the same id", "false"),
        Dialect),
      Made.add("ticket", StringType)),
    PythonProcedure(
      "renew",
      "renew(rule_set, id, ticket, until): change until when a subscription is valid",
      Seq(
        Id,
        required("ticket", StringType, "the secret that the subscription was made with"),
        required("until", TimestampType, "an instant in the future")),
      Made,
      changesRules = false),
    PythonProcedure(
      "advertise",
      "advertise(rule_set, id, where): state which rows a source sends",
      Seq(
        required("id", StringType, "id of the advertisement"),
        required("where", StringType, "what its rows fulfil"),
        Dialect),
      Made),
    PythonProcedure(
      "unadvertise",
      "unadvertise(rule_set, id): remove an advertisement",
      Seq(required("id", StringType, "id of the advertisement")),
      Made),
    PythonProcedure(
      "publish",
      "publish(rule_set, table, where, ...): make a version with the rules of a table, if they have changed",
      Seq(
        required("table", StringType, "name of a table or view with the columns id, where, ..."),
        optional("where", StringType, "a condition on the columns of the table"),
        optional("empty", BooleanType, "whether it may remove all subscriptions", "false"),
        optional("strict", BooleanType, "whether one invalid row stops it", "false"),
        Dialect),
      new StructType()
        .add("version", LongType, nullable = false).add("action", StringType, nullable = false).add("id", StringType)
        .add("reason", StringType).add("line", IntegerType).add("column", IntegerType)),
    PythonProcedure(
      "lint",
      "lint(rule_set, table): what is wrong, or probably wrong, with the rules",
      Seq(optional("table", StringType, "name of the table or view that the rules are for: with it, more is found")),
      new StructType()
        .add("severity", StringType, nullable = false).add("kind", StringType, nullable = false).add("ids", Texts)
        .add("message", StringType).add("suggestion", StringType),
      changesRules = false),
    PythonProcedure(
      "explain",
      "explain(rule_set, row, id): which parts of rules are true for a row",
      Seq(
        required("row", StringType, "the row: named_struct('temperature', 35, ...)"),
        optional("id", StringType, "of which rule; all that are valid now, if it is NULL")),
      new StructType()
        .add("id", StringType, nullable = false).add("matches", BooleanType, nullable = false)
        .add("explanation", StringType),
      changesRules = false))
}
