package sparkrules.catalog

import java.util.{Collections, Map => JMap}

import org.apache.spark.sql.catalyst.analysis.{NoSuchNamespaceException, NoSuchTableException}
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.connector.catalog._
import org.apache.spark.sql.connector.catalog.procedures.UnboundProcedure
import org.apache.spark.sql.connector.expressions.Transform
import org.apache.spark.sql.util.CaseInsensitiveStringMap

import sparkrules.conf.RulesException
import sparkrules.spark.ListedProcedures
import sparkrules.store.{Manifest, Store, StoreAccess}

/**
 * The session's store as a catalog: a namespace for each rule set, tables of what a rule set consists of, and
 * procedures that make new versions. The store is that of the session's setting when the query is analysed.
 */
final class RuleCatalog extends TableCatalog with SupportsNamespaces with ListedProcedures {
  private var called = RuleCatalog.Name

  override def initialize(name: String, options: CaseInsensitiveStringMap): Unit = called = name
  override def name: String = called

  override def listNamespaces(): Array[Array[String]] = RuleCatalog.store().ruleSets.map(Array(_)).toArray

  override def listNamespaces(namespace: Array[String]): Array[Array[String]] =
    if (namespace.isEmpty) listNamespaces()
    else {
      loadNamespaceMetadata(namespace)
      Array.empty
    }

  override def namespaceExists(namespace: Array[String]): Boolean = namespace match {
    case Array() => true
    case Array(ruleSet) => RuleCatalog.store().has(ruleSet)
    case _ => false
  }

  override def loadNamespaceMetadata(namespace: Array[String]): JMap[String, String] = {
    if (!namespaceExists(namespace)) throw new NoSuchNamespaceException(name +: namespace)
    Collections.emptyMap
  }

  override def listTables(namespace: Array[String]): Array[Identifier] = {
    loadNamespaceMetadata(namespace)
    if (namespace.isEmpty) Array.empty else RuleCatalog.Tables.map(Identifier.of(namespace, _)).toArray
  }

  override def tableExists(ident: Identifier): Boolean =
    ident.namespace.length == 1 && namespaceExists(ident.namespace) &&
      RuleCatalog.Tables.contains(ident.name.toLowerCase)

  override def loadTable(ident: Identifier): Table =
    load(ident, (store, ruleSet) => store.newest(ruleSet), travels = false)

  /** VERSION AS OF */
  override def loadTable(ident: Identifier, version: String): Table =
    load(ident, (store, ruleSet) => store.resolve(s"$ruleSet@$version").number, travels = true)

  /** TIMESTAMP AS OF: the version that was the newest then. */
  override def loadTable(ident: Identifier, timestamp: Long): Table =
    load(ident, (store, ruleSet) => RuleCatalog.newestAt(store, ruleSet, timestamp), travels = true)

  private def load(ident: Identifier, version: (Store, String) => Long, travels: Boolean): Table = {
    if (!tableExists(ident)) throw new NoSuchTableException(ident)
    val (store, ruleSet) = (RuleCatalog.store(), ident.namespace.head)
    val root = store.qualified
    ident.name.toLowerCase match {
      case "subscriptions" => Subscriptions(root, ruleSet, version(store, ruleSet))
      case "predicates" => Predicates(root, ruleSet, version(store, ruleSet))
      case "rejected" => Rejected(root, ruleSet, version(store, ruleSet))
      case "advertisements" => Advertisements(root, ruleSet, version(store, ruleSet))
      case "patterns" => PatternTable(root, ruleSet, version(store, ruleSet))
      case "overlaps" => Overlaps(root, ruleSet, version(store, ruleSet))
      case "selectivity" =>
        SelectivityTable(root, ruleSet, version(store, ruleSet), store.newestStatistics(ruleSet))
      case name if travels =>
        throw new RulesException(s"$name of rule set '$ruleSet' is not of one version: leave out AS OF.")
      case "versions" => Versions(root, ruleSet, store.newest(ruleSet))
      case "lists" => Lists.of(root, store, ruleSet)
      case _ => AnalyzedRanges(root, ruleSet, store.newestStatistics(ruleSet))
    }
  }

  override def loadProcedure(ident: Identifier): UnboundProcedure =
    Procedures.All.find(p => ident.namespace.isEmpty && p.name == ident.name.toLowerCase).getOrElse(
      throw new RulesException(
        s"There is no procedure '${(ident.namespace :+ ident.name).mkString(".")}'; there are " +
          s"${Procedures.All.map(_.name).mkString(", ")}. CALL ${RuleCatalog.Name}.${Procedures.All.head.name}(...)"))

  override def listProcedures(namespace: Array[String]): Array[Identifier] =
    if (namespace.isEmpty) Procedures.All.map(p => Identifier.of(Array.empty, p.name)).toArray else Array.empty

  override def createTable(
      ident: Identifier,
      columns: Array[Column],
      partitions: Array[Transform],
      properties: JMap[String, String]): Table =
    RuleCatalog.readOnly()
  override def alterTable(ident: Identifier, changes: TableChange*): Table = RuleCatalog.readOnly()
  override def dropTable(ident: Identifier): Boolean = if (tableExists(ident)) RuleCatalog.readOnly() else false
  override def renameTable(from: Identifier, to: Identifier): Unit = RuleCatalog.readOnly()
  override def createNamespace(namespace: Array[String], metadata: JMap[String, String]): Unit = RuleCatalog.readOnly()
  override def alterNamespace(namespace: Array[String], changes: NamespaceChange*): Unit = RuleCatalog.readOnly()
  override def dropNamespace(namespace: Array[String], cascade: Boolean): Boolean = RuleCatalog.readOnly()
}

object RuleCatalog {
  val Name = "sparkrules"
  private val Tables = Seq(
    "advertisements", "lists", "overlaps", "patterns", "predicates", "rejected", "selectivity", "statistics",
    "subscriptions", "versions")

  /** The store of the active session. `SQLConf.get` would have the view's settings in a view. */
  def store(): Store = StoreAccess.of(SparkSession.active)

  private def newestAt(store: Store, ruleSet: String, timestamp: Long): Long =
    store.versions(ruleSet).sorted.reverseIterator
      .find(number => Manifest.read(store, ruleSet, number).created <= timestamp)
      .getOrElse(throw new RulesException(s"Rule set '$ruleSet' has no version that is so old."))

  private def readOnly(): Nothing =
    throw new RulesException(
      s"The tables of catalog $Name cannot be changed: publish rules with RuleSet.publish in Python, or " +
        s"CALL $Name.subscribe, $Name.unsubscribe, $Name.publish or $Name.rollback.")
}
