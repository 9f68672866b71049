package sparkrules.plan

import java.io.File
import java.util.jar.JarFile

import scala.jdk.CollectionConverters._

/**
 * Loads all classes of the plugin's jar, once. Hive closes the class loader of `--jars` when a client of a Thrift
 * server disconnects: classes that are loaded by then stay usable, others would never be found again.
 */
object PluginClasses {
  def load(): Unit = loaded

  private lazy val loaded: Unit =
    for (source <- Option(getClass.getProtectionDomain.getCodeSource); url <- Option(source.getLocation)) {
      if (url.getProtocol == "file" && url.getPath.endsWith(".jar")) {
        val jar = new JarFile(new File(url.toURI))
        try jar.entries.asScala.map(_.getName).foreach {
          case s"$name.class" => load(name.replace('/', '.'))
          case _ =>
        } finally jar.close()
      }
    }

  private def load(name: String): Unit =
    try Class.forName(name, false, getClass.getClassLoader)
    catch { case _: LinkageError => } // it needs what this Spark does not have; whoever uses it will say so
}
