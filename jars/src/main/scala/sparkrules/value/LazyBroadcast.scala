package sparkrules.value

import java.io.ObjectOutputStream

import scala.reflect.ClassTag

import org.apache.spark.SparkContext
import org.apache.spark.broadcast.Broadcast
import org.apache.spark.sql.classic.SparkSession

/**
 * A value of the driver that executors get as a broadcast. The broadcast is made when the value is first sent: planning
 * and EXPLAIN do not pay for it. An executor fetches it on first use.
 */
final class LazyBroadcast[T: ClassTag](@transient private val make: () => T) extends Serializable {
  @transient private lazy val own: T = make()
  @transient private var context: SparkContext = _
  private var sent: Broadcast[T] = _

  def value: T = if (make != null) own else sent.value

  private def writeObject(out: ObjectOutputStream): Unit = synchronized {
    if (make != null) {
      val current = SparkSession.active.sparkContext
      if (context ne current) {
        sent = current.broadcast(own)
        context = current
      }
    }
    out.defaultWriteObject()
  }

  /** Frees the executors' copies. A query that still runs fetches them again. */
  def free(): Unit = synchronized(if (context != null && !context.isStopped) sent.unpersist())
}
