package sparkrules.conf

import java.io.File
import java.nio.file.Paths

/** The user's home directory, found as Python finds it, so that both languages have the same default store. */
object Home {

  /** The environment comes first; `user.home` is what the system's list of users says. */
  def path: String = of(sys.env, File.separatorChar == '\\', sys.props("user.home"))

  def of(environment: collection.Map[String, String], isWindows: Boolean, listed: String): String =
    if (isWindows) {
      environment.get("USERPROFILE")
        .orElse(environment.get("HOMEPATH").map(environment.getOrElse("HOMEDRIVE", "") + _)).getOrElse(listed)
    } else environment.get("HOME").map(home => if (home.isEmpty) "/" else home).getOrElse(listed)

  /** The default store. */
  def defaultStore: String =
    sys.env.get("SPARKRULES_STORE").filter(_.nonEmpty).getOrElse(Paths.get(path, ".sparkrules", "store").toString)

  /** The path of a store as in Python: `~` is the home directory, and an empty string the default store. */
  def expanded(store: String): String =
    if (store.isEmpty) expanded(defaultStore)
    else if (store == "~" || store.startsWith("~/") || store.startsWith(s"~${File.separator}")) path + store.drop(1)
    else store
}
