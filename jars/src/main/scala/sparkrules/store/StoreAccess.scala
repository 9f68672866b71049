package sparkrules.store

import scala.util.Try

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path

import org.apache.spark.sql.classic.SparkSession

import sparkrules.conf.{AllowedRuleSets, RulesException, Settings}

/**
 * Which store a session has, and which rule sets of it: as the session says, within what the application was started
 * with. A session's settings are anybody's who may send SQL; those of the application are not.
 */
object StoreAccess {
  def of(session: SparkSession): Store = {
    val fixed = isFixed(session)
    val root = if (fixed) Settings.Store.started(session) else Settings.Store.get(session.sessionState.conf)
    val store =
      new Store(Settings.storePath(root), hadoop(session), AllowedRuleSets.of(Settings.AllowedRuleSets.only(session)))
    val isOther = fixed && {
      val wanted = Settings.storePath(Settings.Store.get(session.sessionState.conf))
      // What is no path of this file system is another store, too.
      Try(store.files.makeQualified(new Path(wanted)).toString).toOption.forall(_ != store.qualified)
    }
    if (isOther) throw new RulesException(Settings.Store.isFixed) else store
  }

  /** How files are reached. SET changes a session's, and with it what a path means. */
  def hadoop(session: SparkSession): Configuration =
    if (isFixed(session)) new Configuration(session.sparkContext.hadoopConfiguration)
    else session.sessionState.newHadoopConf()

  private def isFixed(session: SparkSession): Boolean = Settings.FixedStore.only(session) == "true"
}
