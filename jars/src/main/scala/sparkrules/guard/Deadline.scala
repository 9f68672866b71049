package sparkrules.guard

import java.lang.management.ManagementFactory
import java.util.concurrent.{ExecutionException, FutureTask, TimeoutException, TimeUnit}

import scala.annotation.tailrec

import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.internal.SQLConf

import sparkrules.conf.Settings

/** Spark's parser, analyzer or optimizer takes too long. */
final class TooSlow(seconds: Long)
    extends RuntimeException(s"Spark takes more than $seconds s to understand it (${Settings.BindSeconds.key})")

/**
 * Bounds the time that Spark takes for the texts of rules. Runs the work in a thread, and abandons the thread when it
 * has used too much processor time, or has waited for ten times as long. It interrupts the thread: that ends our own
 * evaluation of constants, but not Spark's optimizer.
 */
final class Deadline(session: SparkSession, conf: SQLConf) {
  private val seconds = Settings.BindSeconds.get(conf)

  /** @param expressions how many expressions the work is for */
  def apply[T](expressions: Int)(work: => T): T = {
    val task = new FutureTask[T](() => {
      SparkSession.setActiveSession(session)
      SQLConf.withExistingConf(conf)(work)
    })
    val thread = new Thread(task, "sparkrules-bind")
    thread.setDaemon(true)
    thread.start()
    val limit = 1000 * seconds + Deadline.MillisOfEach * expressions
    val start = System.nanoTime
    def isLate: Boolean = Deadline.millisOf(thread) > limit || (System.nanoTime - start) / 1000000 > 10 * limit
    @tailrec
    def result(): T = {
      val done =
        try Some(task.get(Deadline.Interval, TimeUnit.MILLISECONDS))
        catch { case _: TimeoutException => if (isLate) throw new TooSlow(seconds) else None }
      if (done.isDefined) done.get else result()
    }
    try result()
    catch {
      case e: ExecutionException => throw e.getCause
      case e: Throwable => thread.interrupt(); throw e
    }
  }
}

object Deadline {
  private val MillisOfEach = 20L
  private val Interval = 100L
  private val threads = ManagementFactory.getThreadMXBean

  /** The processor time of a thread. */
  private def millisOf(thread: Thread): Long =
    if (threads.isThreadCpuTimeSupported) threads.getThreadCpuTime(thread.getId) / 1000000 else 0
}
