package sparkrules.store

import scala.util.Try

import org.apache.hadoop.conf.Configuration

import org.apache.spark.sql.classic.SparkSession

import sparkrules.conf.{Home, RulesException, Settings}

/**
 * The store of a session, and the rule sets that it may use. The settings of the application limit those of the
 * session, which anybody can change who may send SQL.
 */
object StoreAccess {
  def of(session: SparkSession): Store = {
    val fixed = isFixed(session)
    val root = if (fixed) Settings.Store.started(session) else Settings.Store.get(session.sessionState.conf)
    val conf = hadoop(session)
    val store = new Store(Home.expanded(root), conf, Settings.AllowedRuleSets.only(session))
    val isOther = fixed && {
      val wanted = Home.expanded(Settings.Store.get(session.sessionState.conf))
      // A path of another file system is another store, too.
      Try(store.files.makeQualified(StorePath(wanted, conf)).toString).toOption.forall(_ != store.qualified)
    }
    if (isOther) throw new RulesException(Settings.Store.isFixed) else store
  }

  /** The Hadoop configuration. A session can change its own by SET, and so the meaning of a path. */
  def hadoop(session: SparkSession): Configuration =
    if (isFixed(session)) new Configuration(session.sparkContext.hadoopConfiguration)
    else session.sessionState.newHadoopConf()

  private def isFixed(session: SparkSession): Boolean = Settings.FixedStore.only(session)
}
