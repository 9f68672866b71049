package sparkrules.catalog

import scala.util.control.NonFatal

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.classic.SparkSession

/**
 * Makes the catalog `sparkrules` known to a session, unless the session has another one of that name. It changes no
 * plan: it is a rule because every session gets its own rules, also a cloned one, and among those that resolve hints
 * because they run before any name is looked up, and in each analysis again, so that RESET does not take the catalog
 * away.
 */
final case class KnownCatalog(session: SparkSession) extends Rule[LogicalPlan] {
  setUnlessSet()

  override def apply(plan: LogicalPlan): LogicalPlan = {
    setUnlessSet()
    if (isOurs) load()
    plan
  }

  private def setUnlessSet(): Unit = {
    val conf = session.sessionState.conf
    if (!conf.contains(KnownCatalog.Key)) conf.setConfString(KnownCatalog.Key, KnownCatalog.Class)
  }

  private def isOurs: Boolean = session.sessionState.conf.getConfString(KnownCatalog.Key) == KnownCatalog.Class

  /** SHOW CATALOGS lists only catalogs that are loaded, and a view has settings of its own, which lack this one. */
  private def load(): Unit =
    try session.sessionState.catalogManager.catalog(RuleCatalog.Name)
    catch { case NonFatal(_) => } // whoever uses the catalog will be told; other queries go on
}

object KnownCatalog {
  private val Key = s"spark.sql.catalog.${RuleCatalog.Name}"
  private val Class = classOf[RuleCatalog].getName
}
