package sparkrules

import java.io.File
import java.util.jar.JarFile

import scala.jdk.CollectionConverters._

/**
 * Loads every class of the plugin's jar at once. Hive, and so a Thrift server, closes the class loader of `--jars` when
 * the first of its clients disconnects: classes that are loaded by then stay, others are never found again.
 */
object PluginClasses {
  lazy val loaded: Int = {
    val own = getClass.getProtectionDomain.getCodeSource
    val file = if (own == null) null else new File(own.getLocation.toURI)
    if (file == null || !file.isFile) 0
    else {
      val jar = new JarFile(file)
      try {
        val names = jar.entries.asScala.map(_.getName).collect { case s"$name.class" => name.replace('/', '.') }
        names.map(Class.forName(_, false, getClass.getClassLoader)).size
      } finally jar.close()
    }
  }
}
