package sparkrules.guard

import java.lang.management.ManagementFactory
import java.util.concurrent.{ExecutionException, FutureTask, TimeoutException, TimeUnit}

import scala.annotation.tailrec

import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.internal.SQLConf

import sparkrules.conf.Settings

/** Spark's parser, analyzer or optimizer takes too long. */
final class TooSlow(message: String) extends RuntimeException(message)

/**
 * Bounds the time that Spark takes for the texts of rules: for each expression, and for all slow ones together. What an
 * ordinary expression takes does not count, so the number of rules does not matter.
 *
 * Runs the work in a thread, and abandons the thread when it has used too much processor time, or has waited for ten
 * times as long. It interrupts the thread: that ends our own evaluation of constants, but not Spark's optimizer.
 */
final class Deadline(session: SparkSession, conf: SQLConf) {
  import Deadline._

  private val seconds = Settings.BindSeconds.get(conf)
  private val totalSeconds = Settings.BindTotalSeconds.get(conf)
  private var left = 1000 * totalSeconds // milliseconds for slow expressions

  /**
   * Work for one expression.
   *
   * @param size the length of its text, more or less
   */
  def one[T](size: Long)(work: => T): T = {
    val ordinary = MillisOfEach + size / SizePerMilli
    val most = math.min(1000 * seconds, left)
    val message =
      if (left < 1000 * seconds) {
        s"Spark is slow to understand it, and slow rules have used up the $totalSeconds s that all rules have " +
          s"together (${Settings.BindTotalSeconds.key})"
      } else s"Spark takes more than $seconds s to understand it (${Settings.BindSeconds.key})"
    def spend(millis: Long): Unit = left -= math.min(most, math.max(0, millis - ordinary))
    try {
      val (result, millis) = timed(ordinary + most, message)(work)
      spend(millis)
      result
    } catch { case e: TooSlow => spend(ordinary + most); throw e }
  }

  /** Work for several expressions. If it takes too long, one of them may be slow: each then needs its own deadline. */
  def many[T](expressions: Int)(work: => T): T =
    timed(1000 + MillisAmongMany * expressions, "Spark takes too long to understand one of them")(work)._1

  /** The result of the work, and its processor time in milliseconds. */
  private def timed[T](limit: Long, message: String)(work: => T): (T, Long) = {
    val task = new FutureTask[(T, Long)](() => {
      SparkSession.setActiveSession(session)
      val result = SQLConf.withExistingConf(conf)(work)
      (result, millisOf(Thread.currentThread))
    })
    val thread = new Thread(task, "sparkrules-bind")
    thread.setDaemon(true)
    thread.start()
    val start = System.nanoTime
    def isLate: Boolean =
      millisOf(thread) > limit || (System.nanoTime - start) / 1000000 > 10 * math.max(limit, 1000 * seconds)
    @tailrec
    def result(): (T, Long) = {
      val done =
        try Some(task.get(Interval, TimeUnit.MILLISECONDS))
        catch { case _: TimeoutException => if (isLate) throw new TooSlow(message) else None }
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
  // What an ordinary expression takes at most: alone, with the time to set up its plan, and among many.
  private val MillisOfEach = 20L
  private val SizePerMilli = 5000L
  private val MillisAmongMany = 2L

  private val Interval = 100L
  private val threads = ManagementFactory.getThreadMXBean

  /** The processor time of a thread. */
  private def millisOf(thread: Thread): Long =
    if (threads.isThreadCpuTimeSupported) threads.getThreadCpuTime(thread.getId) / 1000000 else 0
}
