package sparkrules.spark

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.connector.catalog.{Identifier, ProcedureCatalog}

/** What differs between the minors of Spark, for 4.0: it has no `current_time()`, and no `current_path()`. */
object SparkMinor {

  /** Whether this is `current_time()`. */
  def isCurrentTime(e: Expression): Boolean = false

  /** Whether this is `current_path()`. */
  def isCurrentPath(e: Expression): Boolean = false
}

/** A catalog that can list its procedures; Spark 4.0 does not ask. */
trait ListedProcedures extends ProcedureCatalog {
  def listProcedures(namespace: Array[String]): Array[Identifier]
}
