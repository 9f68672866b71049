package sparkrules.catalog

import java.io.IOException
import java.util.{Collections, Iterator => JIterator}

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.connector.catalog.procedures.{BoundProcedure, ProcedureParameter}
import org.apache.spark.sql.connector.read.{LocalScan, Scan}
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

import sparkrules.call.Caller
import sparkrules.conf.RulesException
import sparkrules.store.{Manifest, Store}

/**
 * A procedure on a rule set of the session's store. The rule set is its first parameter. It returns a row: the rule
 * set, the version that is the newest now, how many subscriptions that has, and what is `added`.
 */
final case class StoreProcedure(
    name: String, override val description: String, more: Seq[ProcedureParameter], added: Seq[StructField] = Nil)(
    run: StoreCall => StoreResult)
    extends BoundProcedure {

  override def parameters: Array[ProcedureParameter] = (StoreProcedure.RuleSet +: more).toArray
  override def isDeterministic: Boolean = false

  override def call(input: InternalRow): JIterator[Scan] = {
    val call = new StoreCall(RuleCatalog.store(), input)
    val result =
      try run(call)
      catch {
        case e: IOException =>
          throw new RulesException(s"Rule set '${call.ruleSet}' in ${call.store.path} cannot be changed: $e", e)
      }
    val values = Seq[Any](UTF8String.fromString(call.ruleSet), result.version, result.subscriptions) ++ result.added
    Collections.singletonList[Scan](new LocalScan {
      override def readSchema: StructType = StructType(StoreProcedure.Result ++ added)
      override def rows: Array[InternalRow] = Array(new GenericInternalRow(values.toArray))
    }).iterator
  }
}

object StoreProcedure {
  private val RuleSet = ProcedureParameter.in("rule_set", StringType).comment("name of the rule set").build()
  private val Result = Seq(
    StructField("rule_set", StringType, nullable = false),
    StructField("version", LongType, nullable = false),
    StructField("subscriptions", LongType, nullable = false))
}

final case class StoreResult(version: Long, subscriptions: Long, added: Seq[Any])

/** A call with its arguments. */
final class StoreCall(val store: Store, val input: InternalRow) {
  val ruleSet: String = {
    val name = store.checked(required("rule_set", 0)(_.getUTF8String(0).toString))
    store.newest(name) // an error if there is no such rule set
    name
  }

  /** Whether the caller may change rules. */
  def isAdmin: Boolean = Caller.of(session).mayChangeRules(session)
  def checkAdmin(procedure: String): Unit = Caller.of(session).check(session, s"${RuleCatalog.Name}.$procedure")
  private def session: SparkSession = SparkSession.active

  def required[T](name: String, i: Int)(read: InternalRow => T): T =
    if (input.isNullAt(i)) throw new RulesException(s"$name is NULL.") else read(input)

  def result(manifest: Manifest, added: Any*): StoreResult =
    StoreResult(manifest.version, manifest.subscriptions, added)
}

object StoreCall {

  /** An argument that is an array of strings. */
  def texts(input: InternalRow, i: Int, name: String): Seq[String] = {
    val texts = input.getArray(i).toObjectArray(StringType).toSeq
    if (texts.contains(null)) throw new RulesException(s"$name contains NULL.")
    texts.map(_.asInstanceOf[UTF8String].toString)
  }
}
