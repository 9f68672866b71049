package sparkrules.call

import java.io.{BufferedOutputStream, IOException, InputStream}
import java.nio.charset.StandardCharsets.UTF_8
import java.util.concurrent.TimeUnit

import scala.util.Try
import scala.util.control.NonFatal

import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}
import com.fasterxml.jackson.databind.node.ObjectNode
import org.apache.spark.SparkConf

import sparkrules.conf.RulesException

/**
 * The Python front end, which reads the texts of rules: a process that is started for one call, with the Python of the
 * driver and its environment. Everything that a user has written goes through stdin, as lines of JSON; the command is
 * always the same, and no shell sees it. See sparkrules/calls.
 */
final class FrontEnd(conf: SparkConf, procedure: String, seconds: Long) {
  import FrontEnd._

  private val python = pythonOf(conf, sys.env)

  /**
   * Makes the call, and returns its result.
   *
   * @param answer answers what Python asks: gets the question, and writes lines
   */
  def result(call: ObjectNode)(answer: (JsonNode, String => Unit) => Unit): JsonNode = {
    val process = start()
    val errors = new LastBytes(process.getErrorStream)
    val watch = new Watch(process, Thread.currentThread, seconds)
    try {
      val (out, lines) = (new BufferedOutputStream(process.getOutputStream), new Lines(process.getInputStream))
      def write(line: String): Unit = out.write((line + "\n").getBytes(UTF_8))
      try { write(call.put("protocol", Protocol).toString); out.flush() }
      catch { case _: IOException => } // it has ended: it says why
      var found: Option[JsonNode] = None
      while (found.isEmpty) {
        val message = lines.next().getOrElse(throw failed(process, errors, watch))
        if (message.has("result")) found = Some(message.get("result"))
        else if (message.has("error")) throw new RulesException(s"CALL $procedure: ${message.get("error").asText}")
        else if (message.has("missing")) throw new RulesException(lacks(message.get("missing").asText))
        else {
          try { answer(message, write); out.flush() }
          catch { case _: IOException if !process.isAlive => throw failed(process, errors, watch) }
        }
      }
      found.get
    } finally {
      watch.end()
      process.destroyForcibly()
    }
  }

  private def start(): Process =
    try new ProcessBuilder(python, "-c", Program).start()
    catch {
      case e: IOException =>
        throw new RulesException(
          s"CALL $procedure reads the text of rules with Python on the driver, and '$python' cannot be started " +
            s"(${e.getMessage}). $Remedy", e)
    }

  private def lacks(reason: String): String =
    s"CALL $procedure reads the text of rules with Python on the driver, and '$python' lacks the package sparkrules " +
      s"($reason). $Remedy"

  private def failed(process: Process, errors: LastBytes, watch: Watch): RulesException = {
    if (watch.isInterrupted) throw new InterruptedException(s"CALL $procedure was cancelled")
    process.waitFor(5, TimeUnit.SECONDS)
    val why =
      if (watch.isLate) s"it took more than $seconds seconds, see spark.sparkrules.callSeconds"
      else errors.text.linesIterator.map(_.trim).filter(_.nonEmpty).toSeq.lastOption.getOrElse("it said nothing")
    new RulesException(s"CALL $procedure: Python ('$python') has failed: $why")
  }
}

object FrontEnd {
  private val Protocol = 1
  private val MostBytes = 256 << 20
  private val Remedy =
    "Set spark.pyspark.driver.python, or the environment variable PYSPARK_DRIVER_PYTHON, to a Python 3.10 or newer " +
      "in which sparkrules is installed, before Spark starts: pip install sparkrules-engine"

  // Without the working directory on the path: whoever may write there could have a module of this name.
  private val Program =
    """import sys
      |sys.path = [place for place in sys.path if place]
      |try:
      |    from sparkrules.calls import main
      |except ImportError as error:
      |    import json
      |    print(json.dumps({"missing": str(error)}))
      |else:
      |    main()
      |""".stripMargin

  /** The Python of the driver, as Spark chooses it: never a setting of a session, which any user can change. */
  private[call] def pythonOf(conf: SparkConf, environment: Map[String, String]): String =
    conf.getOption("spark.pyspark.driver.python")
      .orElse(conf.getOption("spark.pyspark.python"))
      .orElse(environment.get("PYSPARK_DRIVER_PYTHON").filterNot(isNotebook))
      .orElse(environment.get("PYSPARK_PYTHON"))
      .filter(_.nonEmpty)
      .getOrElse("python3")

  /** `PYSPARK_DRIVER_PYTHON=jupyter` starts notebooks, and is no Python. */
  private def isNotebook(name: String): Boolean =
    Seq("jupyter", "ipython", "notebook").exists(name.split('/').last.startsWith)

  /** The lines of a process that are JSON. What else is printed, as by a `sitecustomize`, is skipped. */
  private final class Lines(source: InputStream) {
    private val json = new ObjectMapper
    private val bytes = new java.io.ByteArrayOutputStream
    private val buffered = new java.io.BufferedInputStream(source, 1 << 16)
    private var total = 0L

    def next(): Option[JsonNode] = {
      var line = read()
      while (line.exists(own => parsed(own).isEmpty)) line = read()
      line.flatMap(parsed)
    }

    private def parsed(line: Array[Byte]): Option[JsonNode] = Try(json.readTree(line)).toOption.filter(_.isObject)

    private def read(): Option[Array[Byte]] = {
      bytes.reset()
      var byte = buffered.read()
      while (byte != -1 && byte != '\n') {
        bytes.write(byte)
        total += 1
        if (total > MostBytes) throw new RulesException(s"Python has answered with more than $MostBytes bytes.")
        byte = buffered.read()
      }
      if (byte == -1 && bytes.size == 0) None else Some(bytes.toByteArray)
    }
  }

  /** Reads a stream to its end, so that the process never waits, and keeps the last bytes. */
  private final class LastBytes(source: InputStream) {
    private var kept = ""
    private val thread = new Thread("sparkrules call, errors") {
      override def run(): Unit = {
        val buffer = new Array[Byte](8192)
        try {
          var count = source.read(buffer)
          while (count >= 0) {
            kept = (kept + new String(buffer, 0, count, UTF_8)).takeRight(16384)
            count = source.read(buffer)
          }
        } catch { case NonFatal(_) => } // the process was ended
      }
    }
    thread.setDaemon(true)
    thread.start()

    def text: String = { thread.join(5000); kept }
  }

  /** Ends the process when its time is over, or when the statement is cancelled: reading from it cannot be. */
  private final class Watch(process: Process, caller: Thread, seconds: Long) {
    @volatile private var isOver, late, interrupted = false
    private val thread = new Thread("sparkrules call, time") {
      override def run(): Unit = {
        val end = System.nanoTime + TimeUnit.SECONDS.toNanos(seconds)
        while (!isOver && process.isAlive) {
          late = System.nanoTime - end > 0
          interrupted = caller.isInterrupted
          if (late || interrupted) process.destroyForcibly()
          process.waitFor(100, TimeUnit.MILLISECONDS)
        }
      }
    }
    thread.setDaemon(true)
    thread.start()

    def isLate: Boolean = late
    def isInterrupted: Boolean = interrupted || caller.isInterrupted
    def end(): Unit = isOver = true
  }
}
