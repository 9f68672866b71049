package sparkrules.version

import org.apache.spark.sql.classic.SparkSession

/** The functions that rules call, each with the session's definition of it. */
final case class FunctionDefinitions(definitions: Map[String, Any]) {

  /** Whether the session still has these definitions. A function that is registered anew has another one. */
  def areCurrent(session: SparkSession): Boolean = this == FunctionDefinitions.of(session, definitions.keys.toSeq)

  def ++(others: FunctionDefinitions): FunctionDefinitions = FunctionDefinitions(definitions ++ others.definitions)
}

object FunctionDefinitions {
  val none: FunctionDefinitions = FunctionDefinitions(Map.empty)

  def of(session: SparkSession, functions: Seq[String]): FunctionDefinitions =
    if (functions.isEmpty) none
    else {
      val registry = session.sessionState.functionRegistry
      val registered = registry.listFunction().groupBy(_.funcName.toLowerCase)
      FunctionDefinitions(functions.map { name =>
        name -> registered.getOrElse(name, Nil).map(id => id -> registry.lookupFunctionBuilder(id)).toMap
      }.toMap)
    }
}
