package sparkrules.store

import java.io.{FileNotFoundException, IOException}
import java.nio.file.AccessDeniedException

import scala.annotation.tailrec

/** Reads again what could not be read. Files never change, so it makes no difference which attempt was successful. */
private[store] object Repeated {
  private val Attempts = 3

  def apply[T](read: => T): T = attempt(() => read, 1)

  @tailrec
  private def attempt[T](read: () => T, number: Int): T = {
    val result =
      try Some(read())
      catch { case e: IOException if number < Attempts && isPassing(e) => None }
    result match {
      case Some(found) => found
      case None => attempt(read, number + 1)
    }
  }

  private def isPassing(error: IOException): Boolean = error match {
    case _: FileNotFoundException | _: AccessDeniedException => false
    case _ => true
  }
}
