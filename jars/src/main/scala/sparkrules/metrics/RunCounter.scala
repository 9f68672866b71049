package sparkrules.metrics

import scala.collection.mutable

import org.apache.spark.util.{AccumulatorV2, CollectionAccumulator}

import sparkrules.version.PinnedRules

/**
 * Takes what tasks send, as Spark merges accumulators: of tasks that succeeded, once for each. Executors get an
 * accumulator of Spark's, not of this class. It has no name, so that event logs do not contain it.
 *
 * An operator that is planned once may be executed by several actions; each is a run.
 *
 * @param begun makes the run of an execution
 */
private final class RunCounter(rules: PinnedRules, instant: Option[Long], begun: Option[Long] => MatchRun)
    extends CollectionAccumulator[Array[Array[Long]]] {
  private val runs = mutable.HashMap.empty[Option[Long], MatchRun]

  override def copyAndReset(): CollectionAccumulator[Array[Array[Long]]] = new CollectionAccumulator

  override def merge(other: AccumulatorV2[Array[Array[Long]], java.util.List[Array[Array[Long]]]]): Unit =
    other.value.forEach { sent =>
      val execution = TaskCounts.executionOf(sent)
      val run = synchronized(runs.getOrElseUpdate(execution, begun(execution)))
      run.add(rules, instant, sent)
    }
}
