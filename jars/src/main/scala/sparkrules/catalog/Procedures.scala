package sparkrules.catalog

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.connector.catalog.procedures.{BoundProcedure, ProcedureParameter, UnboundProcedure}
import org.apache.spark.sql.types._

import sparkrules.call.PythonProcedures
import sparkrules.conf.RulesException
import sparkrules.store.{Manifest, NewVersion, Owners, Tickets}
import sparkrules.version.VersionCache

/** The procedures of `CALL sparkrules.x(...)`. */
object Procedures {
  def All: Seq[UnboundProcedure] =
    Seq(RefreshProcedure, RollbackProcedure, UnsubscribeProcedure) ++ PythonProcedures.All
}

/** Drops the compiled rules of a rule set from the driver's cache, so that the next query reads the store again. */
object RefreshProcedure extends UnboundProcedure {
  override def name: String = "refresh"
  override def description: String = "refresh(rule_set): forget the compiled rules, return the newest version"

  override def bind(input: StructType): BoundProcedure =
    StoreProcedure(name, description, Nil) { call =>
      VersionCache.forget(call.store.root, call.ruleSet)
      call.result(Manifest.newest(call.store, call.ruleSet))
    }
}

/** Publishes the content of an earlier version as a new one: no number is ever used twice. */
object RollbackProcedure extends UnboundProcedure {
  private val Version = ProcedureParameter.in("version", LongType).comment("number of the earlier version").build()

  private val Tickets = ProcedureParameter.in("tickets", ArrayType(StringType))
    .defaultValue("CAST(NULL AS ARRAY<STRING>)")
    .comment("the secrets of all subscriptions that it removes, brings back or changes").build()

  override def name: String = "rollback"
  override def description: String = "rollback(rule_set, version, tickets): make an earlier version the newest again"

  override def bind(input: StructType): BoundProcedure =
    StoreProcedure(name, description, Seq(Version, Tickets)) { call =>
      call.checkAdmin(name)
      val wanted = call.required("version", 1)(_.getLong(1))
      val (store, ruleSet) = (call.store, call.ruleSet)
      val earlier = Manifest.read(store, ruleSet, store.resolve(s"$ruleSet@$wanted").number)
      earlier.files.map(store.pathOf(ruleSet, _)).foreach(file => store.naming(file)(store.files.getFileStatus(file)))
      val secrets = if (call.input.isNullAt(2)) Nil else StoreCall.texts(call.input, 2, "tickets")
      val tickets = new Tickets(store, ruleSet, secrets)
      val owners = new Owners(store, ruleSet)
      call.result(new NewVersion(store, ruleSet).make { newest =>
        val changed =
          try owners.changed(newest, earlier)
          // If a file is damaged, the rollback repairs it.
          catch { case _: RulesException if !tickets.areGivenOut => Set.empty[String] }
        if (!changed.forall(tickets.matches)) {
          throw new RulesException(
            s"Rolling back '$ruleSet' to version $wanted would change subscriptions that were made with a ticket: " +
              s"give all their tickets. " +
              s"CALL ${RuleCatalog.Name}.rollback('$ruleSet', $wanted, tickets => array('...'))")
        }
        earlier.next(newest.version, s"rollback to $wanted", NewVersion.publisher())
      })
    }
}

/** Removes one subscription by its id, or several by an array of ids. */
object UnsubscribeProcedure extends UnboundProcedure {
  override def name: String = "unsubscribe"
  override def description: String =
    "unsubscribe(rule_set, id or ids, ticket): make a version without these subscriptions"

  override def bind(input: StructType): BoundProcedure = {
    val several = input.exists(field => field.dataType.isInstanceOf[ArrayType] || field.name.equalsIgnoreCase("ids"))
    val ids =
      if (several) ProcedureParameter.in("ids", ArrayType(StringType)).comment("ids of subscriptions").build()
      else ProcedureParameter.in("id", StringType).comment("id of a subscription").build()
    val ticket = ProcedureParameter.in("ticket", StringType).defaultValue("CAST(NULL AS STRING)")
      .comment("the secret that the subscription was made with").build()
    val removed = StructField("removed", LongType, nullable = false)
    StoreProcedure(name, description, Seq(ids, ticket), Seq(removed)) { call =>
      val wanted = call.required(ids.name, 1)(idsOf(_, several)).distinct
      if (wanted.isEmpty) throw new RulesException("ids is empty: name at least one subscription.")
      val secret = if (call.input.isNullAt(2)) None else Some(call.input.getUTF8String(2).toString)
      if (secret.isEmpty) call.checkAdmin(name)
      val version = new NewVersion(call.store, call.ruleSet)
      val unsubscribe = new Unsubscribe(call.store, call.ruleSet, wanted, secret, onlyOwn = !call.isAdmin)
      call.result(version.make(unsubscribe.from(_, version)), wanted.length.toLong)
    }
  }

  private def idsOf(input: InternalRow, several: Boolean): Seq[String] =
    if (!several) Seq(input.getUTF8String(1).toString)
    else StoreCall.texts(input, 1, "ids")
}
