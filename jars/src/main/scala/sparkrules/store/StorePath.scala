package sparkrules.store

import scala.util.Try

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FileSystem, Path}
import org.apache.hadoop.util.VersionInfo

import sparkrules.conf.{RulesException, Settings}

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
