package org.apache.spark.sparkrules

import org.apache.spark.{SparkEnv, TaskContext, TaskContextImpl}

/**
 * A part of a task with an end of its own: what it opens (buffers, a Python worker) is closed then, and not at the end
 * of the task. In Spark's package, as only there a context can be made.
 */
private final class OwnTaskContext(task: TaskContext)
    extends TaskContextImpl(
      task.stageId(), task.stageAttemptNumber(), task.partitionId(), task.taskAttemptId(), task.attemptNumber(),
      task.numPartitions(), task.taskMemoryManager(), task.getLocalProperties, SparkEnv.get.metricsSystem,
      task.taskMetrics(), 1, task.resources()) {
  override def isInterrupted(): Boolean = task.isInterrupted()
  override def getKillReason(): Option[String] = task.getKillReason()
}

object OwnTaskContext {

  /** Runs `work`, then closes what it has opened. */
  def run[A](work: => A): A = {
    val task = TaskContext.get()
    val own = new OwnTaskContext(task)
    TaskContext.setTaskContext(own)
    try {
      val result = work
      own.markTaskCompleted(None)
      result
    } catch {
      case e: Throwable =>
        own.markTaskFailed(e)
        own.markTaskCompleted(Some(e))
        throw e
    } finally TaskContext.setTaskContext(task)
  }
}
