package sparkrules.store

import java.io.{File, IOException}
import java.nio.ByteBuffer
import java.nio.channels.FileChannel
import java.nio.file.{FileAlreadyExistsException, Files, NoSuchFileException, StandardCopyOption}
import java.nio.file.StandardOpenOption.{CREATE_NEW, READ, WRITE}
import java.util.{Arrays, UUID}

import scala.util.Try

import org.apache.hadoop.fs.{FileContext, FileSystem, FSDataOutputStream, Path}
import org.apache.hadoop.fs.Options.Rename
import org.apache.hadoop.util.VersionInfo

import sparkrules.conf.RulesException

/** Writes files of the store. They appear whole, and never replace another file. */
sealed trait NewFiles {

  /** Writes a file that nobody reads yet. Creates its directory if necessary. */
  def write(file: Path, content: Array[Byte]): Unit

  /** Writes a file that appears whole. Does nothing, and returns false, if the name is taken. */
  def create(file: Path, content: Array[Byte]): Boolean

  def delete(file: Path): Unit
}

object NewFiles {

  /** The option, and the capability, of file systems that create a file only if there is none when it is closed. */
  private[store] val Conditional = "fs.option.create.conditional.overwrite"

  /** Their rename is atomic, and fails if the name is taken. */
  private val Renaming = Set("hdfs", "webhdfs", "swebhdfs", "viewfs", "abfs", "abfss")

  /** A file appears when it is closed, and the server refuses it if the name was taken since it was opened. */
  private val ConditionalAnyway = Set("gs")

  /** What writes to the store. Fails if its file system cannot create a file only if there is none. */
  def apply(store: Store): NewFiles = {
    val (files, path) = (store.files, store.path)
    files.getScheme match {
      case "file" => new LocalNewFiles(files)
      case scheme if Renaming(scheme) => new RenamedNewFiles(files)
      case _ if files.hasPathCapability(path, Conditional) =>
        new ConditionalNewFiles(files, files.createFile(_).recursive().must(Conditional, true).build())
      case scheme if ConditionalAnyway(scheme) => new ConditionalNewFiles(files, files.create(_, false))
      case scheme =>
        val remedy =
          if (scheme == "s3a" && VersionInfo.getVersion < "3.5") s"Hadoop ${VersionInfo.getVersion} cannot; 3.5 can. "
          else if (scheme == "s3a") "Set fs.s3a.create.conditional.enabled to true. "
          else ""
        throw new RulesException(
          s"Nothing was written to ${store.root}: a version needs a file system that creates a file only if there is " +
            s"none of its name, and $scheme:// is not known to. ${remedy}From Python, RuleSet and the command line " +
            "can publish to s3://, gs://, abfss:// and directories.")
    }
  }
}

/** Writes as Python does: forces files to the disk, and publishes by a link, which fails if the name is taken. */
private final class LocalNewFiles(files: FileSystem) extends NewFiles {

  override def write(file: Path, content: Array[Byte]): Unit = {
    val target = local(file)
    Files.createDirectories(target.getParentFile.toPath)
    val channel = FileChannel.open(target.toPath, CREATE_NEW, WRITE)
    try {
      val rest = ByteBuffer.wrap(content)
      while (rest.hasRemaining) channel.write(rest)
      channel.force(true)
    } finally channel.close()
    sync(target.getParentFile)
  }

  override def create(file: Path, content: Array[Byte]): Boolean = {
    val temporary = Temporary.beside(file)
    try {
      write(temporary, content)
      publish(local(temporary), local(file))
    } finally delete(temporary)
  }

  private def publish(temporary: File, last: File): Boolean = {
    val done =
      try {
        Files.createLink(last.toPath, temporary.toPath)
        true
      } catch {
        case _: FileAlreadyExistsException => false
        case e: NoSuchFileException => throw e
        case _: UnsupportedOperationException | _: java.nio.file.FileSystemException => claim(temporary, last)
      }
    if (done) sync(last.getParentFile)
    done
  }

  /**
   * For file systems without links, as Python does it: whoever creates the directory `.N.claim` may use the number.
   * Others wait for the version, because theirs has to follow it, unless its publisher seems to have died.
   */
  private def claim(from: File, to: File): Boolean = {
    LocalNewFiles.objectStoreAt(to).foreach { kind =>
      throw new RulesException(
        s"$to cannot be created safely: $kind has no hard links, and does not say whether two machines can make the " +
          "same directory. Publish to the object store itself (s3a://, gs://, abfss://), or to a directory on a disk.")
    }
    val claim = new File(to.getParentFile, s".${to.getName.stripSuffix(".json")}.claim")
    val free = claim.mkdir()
    if (free && !to.exists()) {
      Files.move(from.toPath, to.toPath, StandardCopyOption.ATOMIC_MOVE)
      true
    } else {
      while (!to.exists() && System.currentTimeMillis - claim.lastModified < LocalNewFiles.DeadClaim) Thread.sleep(20)
      false
    }
  }

  override def delete(file: Path): Unit = {
    val _ = Files.deleteIfExists(local(file).toPath)
  }

  private def local(file: Path): File = new File(files.makeQualified(file).toUri.getPath)

  /** Makes the names in a directory durable, where the system has a way to. */
  private def sync(directory: File): Unit = {
    val _ = Try {
      val channel = FileChannel.open(directory.toPath, READ)
      try channel.force(true)
      finally channel.close()
    }
  }
}

private object LocalNewFiles {
  val DeadClaim = 30000L // milliseconds after which the publisher that claimed a number is presumed dead

  /** What is mounted there, if that may be an object store that looks like a directory. */
  def objectStoreAt(file: File): Option[String] = {
    val path = file.getAbsolutePath
    if (path.startsWith("/Volumes/") || path.startsWith("/dbfs/")) Some("the file system of Databricks")
    else {
      Try(Files.getFileStore(file.getParentFile.toPath)).toOption.filter(_.`type`.startsWith("fuse"))
        .map(mounted => s"the ${mounted.`type`} file system at $mounted")
    }
  }
}

/** A file system in which renaming is atomic, and fails if the name is taken. */
private final class RenamedNewFiles(files: FileSystem) extends NewFiles {
  private val context = FileContext.getFileContext(files.getUri, files.getConf)

  override def write(file: Path, content: Array[Byte]): Unit = {
    val out = files.create(file, false)
    try {
      out.write(content)
      out.hsync()
    } finally out.close()
  }

  override def create(file: Path, content: Array[Byte]): Boolean = {
    val temporary = Temporary.beside(file)
    try {
      write(temporary, content)
      Taken.settled(files, file, content)(context.rename(temporary, file, Rename.NONE))
    } finally delete(temporary)
  }

  override def delete(file: Path): Unit = {
    val _ = files.delete(file, false)
  }
}

/** An object store. An object appears when it is closed, unless there is one of its name. */
private final class ConditionalNewFiles(files: FileSystem, open: Path => FSDataOutputStream) extends NewFiles {

  override def write(file: Path, content: Array[Byte]): Unit = {
    val out = files.create(file, true) // of a random name
    try out.write(content)
    finally out.close()
  }

  override def create(file: Path, content: Array[Byte]): Boolean = {
    requireConditions(file)
    conditionally(file, content)
  }

  private def conditionally(file: Path, content: Array[Byte]): Boolean =
    Taken.settled(files, file, content) {
      val out = open(file)
      try out.write(content)
      finally out.close()
    }

  /** Servers of HTTP may ignore a condition that they do not know. */
  private def requireConditions(file: Path): Unit = {
    val probe = Temporary.beside(file)
    try {
      write(probe, Array[Byte](1))
      if (conditionally(probe, Array[Byte](2))) {
        throw new RulesException(
          s"No version was made: the server of ${file.getParent} replaces a file although it was told to create it " +
            "only if there is none. Choose another store: see docs/operating.md.")
      }
    } finally delete(probe)
  }

  override def delete(file: Path): Unit = {
    val _ = files.delete(file, false)
  }
}

private object Temporary {
  def beside(file: Path): Path =
    new Path(file.getParent, s".${UUID.randomUUID().toString.replace("-", "")}.tmp")
}

private object Taken {

  /**
   * Whether `create` has created the file. It fails if the name is taken, but also if the response to a request was
   * lost and the request was repeated: then the file has this content.
   */
  def settled(files: FileSystem, file: Path, content: Array[Byte])(create: => Unit): Boolean =
    try {
      create
      true
    } catch {
      case e: IOException =>
        val there =
          try {
            Repeated {
              val in = files.open(file)
              try Some(in.readAllBytes())
              finally in.close()
            }
          } catch { case _: java.io.FileNotFoundException => None }
        there.map(Arrays.equals(_, content)).getOrElse(throw e)
    }
}
