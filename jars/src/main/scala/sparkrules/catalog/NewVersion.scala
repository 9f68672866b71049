package sparkrules.catalog

import java.net.InetAddress
import java.util.UUID

import scala.annotation.tailrec
import scala.util.Try

import com.fasterxml.jackson.databind.node.ObjectNode
import org.apache.hadoop.fs.Path
import org.apache.hadoop.security.UserGroupInformation

import sparkrules.{Manifest, Store}

/** Makes versions of a rule set, each of which appears whole or not at all, as the Python side does. */
final class NewVersion(store: Store, ruleSet: String) {
  private val files = NewFiles(store.files)
  private val versions = new Path(store.path, s"$ruleSet/versions")

  /**
   * Makes a version from the newest one, and returns its manifest. If a rival makes one at the same time, `change` is
   * asked again, with the rival's.
   */
  def make(change: Manifest => ObjectNode): Manifest = attempt(change, 0)

  @tailrec
  private def attempt(change: Manifest => ObjectNode, taken: Long): Manifest = {
    val newest = Manifest.newest(store, ruleSet)
    val number = Math.max(newest.version, taken) + 1
    val manifest = change(newest).put("version", number)
    val temporary = new Path(versions, s".${UUID.randomUUID().toString.replace("-", "")}.tmp")
    val done =
      try {
        files.write(temporary, Manifest.bytes(manifest))
        files.publish(temporary, new Path(versions, s"$number.json"))
      } finally files.delete(temporary)
    if (done) Manifest.read(store, ruleSet, number) else attempt(change, number)
  }

  /** Writes a file that no version refers to yet, and returns its name. */
  def file(directory: String, content: Array[Byte]): String = {
    val name = UUID.randomUUID().toString.replace("-", "")
    files.write(new Path(store.path, s"$ruleSet/$directory/$name.arrow"), content)
    name
  }
}

object NewVersion {
  def publisher(): String = {
    val machine = Try(InetAddress.getLocalHost.getHostName).getOrElse("unknown")
    s"${UserGroupInformation.getCurrentUser.getShortUserName}@$machine"
  }
}
