package sparkrules.guard

import org.apache.spark.sql.catalyst.expressions.Expression

import sparkrules.value.{Exhausted, ExpressionBytes}

/** Rejects expressions that are nested so deeply that Java exhausts its stack when it serialises them. */
object Depth {
  private val Harmless = 100
  // A quarter of the default stack of a task.
  private val StackBytes = 256L << 10

  /** The expression that `prepare` makes, or one that fails if that is too deep for a task. */
  def bounded(original: Expression)(prepare: => Expression): Expression =
    try {
      val prepared = prepare
      if (depthOf(prepared) > Harmless) travel(prepared)
      prepared
    } catch {
      case _: StackOverflowError => Failing.of(original, new Exhausted("it is nested too deeply to be computed"))
    }

  private def depthOf(expression: Expression): Int =
    1 + expression.children.foldLeft(0)((most, child) => math.max(most, depthOf(child)))

  /** Serialises the expression and reads it again, as for a task, with a small stack. */
  private def travel(expression: Expression): Unit = {
    var overflow: StackOverflowError = null
    val trip = new Thread(
      null,
      () =>
        try ExpressionBytes.read(ExpressionBytes.of(Array(expression)))
        catch { case e: StackOverflowError => overflow = e },
      "sparkrules-depth",
      StackBytes)
    trip.setContextClassLoader(Thread.currentThread.getContextClassLoader)
    trip.start()
    trip.join()
    if (overflow != null) throw overflow
  }
}
