package org.apache.spark.sparkrules

import java.util.{Collections, LinkedHashMap, Map => JavaMap, UUID}

import org.apache.spark.{SparkContext, SparkEnv}
import org.apache.spark.rpc.{RpcCallContext, RpcEndpoint, RpcEnv}
import org.apache.spark.util.RpcUtils

/**
 * How many calls of Python functions a query may still make, over all its tasks: the driver counts. In Spark's package,
 * as only there its messages can be used.
 */
final class CallBudget private (query: String) extends Serializable {

  /** Asks for `wanted` calls; the number that is granted. */
  def take(wanted: Int): Int =
    RpcUtils.makeDriverRef(CallBudget.Name, SparkEnv.get.conf, SparkEnv.get.rpcEnv).askSync[Int]((query, wanted))
}

object CallBudget {
  private val Name = "sparkrules-calls"
  private val MostQueries = 10000
  private var served: RpcEnv = _

  // Per query: the calls that are left. Those that ended long ago are forgotten, and get no more.
  private val left: JavaMap[String, java.lang.Long] =
    Collections.synchronizedMap(new LinkedHashMap[String, java.lang.Long] {
      override def removeEldestEntry(eldest: JavaMap.Entry[String, java.lang.Long]): Boolean = size > MostQueries
    })

  /** The budget of a query that is about to run; on the driver. */
  def of(context: SparkContext, calls: Long): CallBudget = {
    serve(context.env.rpcEnv)
    val query = UUID.randomUUID().toString
    left.put(query, calls)
    new CallBudget(query)
  }

  private def serve(env: RpcEnv): Unit = synchronized {
    if (served ne env) {
      env.setupEndpoint(Name, new Counter(env))
      served = env
    }
  }

  // The messages are of classes that every class loader has: the jar may be known only to that of the session.
  private final class Counter(override val rpcEnv: RpcEnv) extends RpcEndpoint {
    override def receiveAndReply(caller: RpcCallContext): PartialFunction[Any, Unit] = {
      case (query: String, wanted: Int) =>
        var granted = 0
        left.computeIfPresent(query, (_, calls) => {
          granted = math.min(calls.longValue, wanted.toLong).toInt
          calls - granted
        })
        caller.reply(granted)
    }
  }
}
