package org.apache.spark.sparkrules

import com.codahale.metrics.MetricRegistry

import org.apache.spark.SparkContext
import org.apache.spark.metrics.source.Source
import org.apache.spark.scheduler.SparkListener

/** What can be added to the driver of an application. In Spark's package, as only there it can be reached. */
object DriverParts {

  /** Adds a listener that has a thread of its own: others do not wait for it. */
  def addListener(context: SparkContext, listener: SparkListener, queue: String): Unit =
    context.listenerBus.addToQueue(listener, queue)

  /** Adds metrics, which may come and go, to Spark's metrics system. */
  def register(context: SparkContext, name: String, metrics: MetricRegistry): Unit =
    context.env.metricsSystem.registerSource(new Source {
      override val sourceName: String = name
      override val metricRegistry: MetricRegistry = metrics
    })
}
