package sparkrules.store

import java.io.FileNotFoundException
import java.net.InetAddress
import java.util.UUID

import scala.annotation.tailrec
import scala.collection.mutable
import scala.util.Try

import com.fasterxml.jackson.databind.node.ObjectNode
import org.apache.hadoop.fs.Path
import org.apache.hadoop.security.UserGroupInformation

import sparkrules.conf.RulesException

/** Publishes versions of a rule set as Python does: each appears whole or not at all. */
final class NewVersion(store: Store, ruleSet: String) {
  private val files = NewFiles(store)
  private val versions = new Path(store.path, s"$ruleSet/versions")
  private val written = mutable.Map.empty[String, FileSum]

  /**
   * Publishes a version that is made from the newest one, and returns its manifest. If somebody else publishes at the
   * same time, calls `change` again with their version.
   */
  def make(change: Manifest => ObjectNode): Manifest = attempt(change, 0)

  @tailrec
  private def attempt(change: Manifest => ObjectNode, taken: Long): Manifest = {
    val newest = Manifest.newest(store, ruleSet)
    val number = (store.withdrawn(ruleSet) ++ Seq(newest.version, taken)).max + 1
    val manifest = Manifest.summed(change(newest), sumOf).put("version", number)
    val done = files.create(new Path(versions, s"$number.json"), Manifest.bytes(manifest))
    if (done) complete(Manifest.read(store, ruleSet, number)) else attempt(change, number)
  }

  /** Withdraws the version if a file of it has been collected as garbage while it was made, as Python does. */
  private def complete(made: Manifest): Manifest = {
    made.files.foreach { file =>
      val path = store.pathOf(ruleSet, file)
      val length = try Some(store.files.getFileStatus(path).getLen) catch { case _: FileNotFoundException => None }
      if (length != file.sum.map(_.length)) {
        files.write(new Path(versions, s".${made.version}.withdrawn"), Array.empty)
        files.delete(store.manifestPath(Version(store.root, ruleSet, made.version)))
        throw new RulesException(
          s"$path was removed as garbage while version ${made.version} of '$ruleSet' was being made. The version was " +
            "withdrawn: try again.")
      }
    }
    made
  }

  private def sumOf(path: String): FileSum =
    written.getOrElse(path, store.sumOf(new Path(store.path, s"$ruleSet/$path")))

  /** Writes a file that no version refers to yet, and returns its name. */
  def file(directory: String, content: Array[Byte], ending: String = "arrow"): String = {
    val name = UUID.randomUUID().toString.replace("-", "")
    files.write(new Path(store.path, s"$ruleSet/$directory/$name.$ending"), content)
    written(s"$directory/$name.$ending") = FileSum.of(content)
    name
  }
}

object NewVersion {
  def publisher(): String = {
    val machine = Try(InetAddress.getLocalHost.getHostName).getOrElse("unknown")
    s"${UserGroupInformation.getCurrentUser.getShortUserName}@$machine"
  }
}
