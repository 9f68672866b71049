package sparkrules.store

import java.io.File
import java.nio.ByteBuffer
import java.nio.channels.FileChannel
import java.nio.file.{FileAlreadyExistsException, Files, NoSuchFileException, StandardCopyOption}
import java.nio.file.StandardOpenOption.{CREATE_NEW, READ, WRITE}

import scala.util.Try

import org.apache.hadoop.fs.{FileAlreadyExistsException => TakenInHadoop, _}
import org.apache.hadoop.fs.Options.Rename

/** Writes files of the store. They appear whole, and never replace another file. */
sealed trait NewFiles {

  /** Writes a file that nobody reads yet. Creates its directory if necessary. */
  def write(file: Path, content: Array[Byte]): Unit

  /** Gives a written file its final name. Does nothing, and returns false, if the name is taken. */
  def publish(temporary: Path, last: Path): Boolean

  def delete(file: Path): Unit
}

object NewFiles {
  def apply(files: FileSystem): NewFiles = files match {
    case local: LocalFileSystem => new LocalNewFiles(local)
    case _ => new HadoopNewFiles(files)
  }
}

/** Writes as Python does: forces files to the disk, and publishes by a link, which fails if the name is taken. */
private final class LocalNewFiles(files: LocalFileSystem) extends NewFiles {

  override def write(file: Path, content: Array[Byte]): Unit = {
    val target = files.pathToFile(file)
    Files.createDirectories(target.getParentFile.toPath)
    val channel = FileChannel.open(target.toPath, CREATE_NEW, WRITE)
    try {
      val rest = ByteBuffer.wrap(content)
      while (rest.hasRemaining) channel.write(rest)
      channel.force(true)
    } finally channel.close()
    sync(target.getParentFile)
  }

  override def publish(temporary: Path, last: Path): Boolean = {
    val (from, to) = (files.pathToFile(temporary).toPath, files.pathToFile(last).toPath)
    val done =
      try {
        Files.createLink(to, from)
        true
      } catch {
        case _: FileAlreadyExistsException => false
        case e: NoSuchFileException => throw e
        case _: UnsupportedOperationException | _: java.nio.file.FileSystemException => claim(from.toFile, to.toFile)
      }
    if (done) sync(to.getParent.toFile)
    done
  }

  /**
   * For file systems without links, as Python does it: whoever creates the directory `.N.claim` may use the number.
   * Others wait for the version, because theirs has to follow it, unless its publisher seems to have died.
   */
  private def claim(from: File, to: File): Boolean = {
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
    val _ = Files.deleteIfExists(files.pathToFile(file).toPath)
  }

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
}

/**
 * Any other file system. Most have a rename that fails if the name is taken. Object stores have no atomic rename: an
 * object appears when it is closed, and creating it fails if it exists, as far as the store can tell.
 */
private final class HadoopNewFiles(files: FileSystem) extends NewFiles {

  override def write(file: Path, content: Array[Byte]): Unit = {
    val out = files.create(file, false)
    try out.write(content)
    finally out.close()
  }

  override def publish(temporary: Path, last: Path): Boolean =
    try {
      renaming(last) match {
        case Some(context) => context.rename(temporary, last, Rename.NONE)
        case None =>
          val in = files.open(temporary)
          val content = try in.readAllBytes() finally in.close()
          write(last, content)
      }
      true
    } catch { case _: TakenInHadoop => false }

  private def renaming(file: Path): Option[FileContext] =
    if (files.hasPathCapability(file, CommonPathCapabilities.ABORTABLE_STREAM)) None
    else {
      try Some(FileContext.getFileContext(files.getUri, files.getConf))
      catch { case _: UnsupportedFileSystemException => None }
    }

  override def delete(file: Path): Unit = {
    val _ = files.delete(file, false)
  }
}
