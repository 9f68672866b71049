package sparkrules.store

import scala.util.Try

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FileSystem, Path}
import org.apache.hadoop.util.VersionInfo

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

/** The path of a store, and what to do if there is no file system for it. */
object StorePath {

  // The packages of file systems that Spark does not contain.
  private val Connectors = Map(
    "s3a" -> "hadoop-aws", "s3" -> "hadoop-aws", "abfs" -> "hadoop-azure", "abfss" -> "hadoop-azure",
    "gs" -> "hadoop-gcp")

  /** s3:// is s3a:// unless it has a file system of its own. A URL with credentials is refused, and not repeated. */
  def apply(root: String, hadoop: Configuration): Path = {
    if (hasCredentials(root)) {
      throw new RulesException(
        "The URL of the store contains credentials. Remove them, and configure them as the file system documents it.")
    }
    val isOther = root.startsWith("s3://") && Try(FileSystem.getFileSystemClass("s3", hadoop)).isFailure
    new Path(if (isOther) root.replaceFirst("s3:", "s3a:") else root)
  }

  /** Whether a URL has a user or password. A secret can have a slash: what looks like the path may belong to it. */
  private[store] def hasCredentials(root: String): Boolean = root match {
    case s"$scheme://$rest" =>
      val authority = rest.takeWhile(_ != '/')
      if (Connectors.contains(scheme)) {
        // abfss://container@account.dfs.core.windows.net names a container, not a user.
        val isUser = authority.contains("@") && !scheme.startsWith("abfs")
        isUser || authority.contains(":") || rest.contains("?")
      } else authority.contains("@") && authority.takeWhile(_ != '@').contains(":")
    case _ => false
  }

  /** What to do if there is no such file system: Spark would only name a class. */
  def unreachable(path: Path, error: Throwable): String = {
    val scheme = Option(path.toUri.getScheme).getOrElse("")
    val remedy = Connectors.get(scheme) match {
      case Some(connector) =>
        s"Add its connector when Spark starts: --packages org.apache.hadoop:$connector:${VersionInfo.getVersion}, or " +
          "in spark.jars.packages."
      case None => s"Add the file system of $scheme:// to Spark, or choose another store with ${Settings.Store.key}."
    }
    s"The store $path cannot be reached ($error). $remedy"
  }
}
