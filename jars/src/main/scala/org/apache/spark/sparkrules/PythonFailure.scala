package org.apache.spark.sparkrules

import org.apache.spark.api.python.PythonException

/** What a Python function has raised, or what became of its worker. In Spark's package, as only there it is known. */
object PythonFailure {

  /** The last line of the traceback. */
  def unapply(e: Throwable): Option[String] = e match {
    case raised: PythonException =>
      val lines = Option(raised.getMessage).getOrElse("").linesIterator.map(_.trim).filter(_.nonEmpty).toSeq
      Some(lines.reverse.find(!_.startsWith("SQLSTATE")).getOrElse(raised.toString))
    case _ => None
  }
}
