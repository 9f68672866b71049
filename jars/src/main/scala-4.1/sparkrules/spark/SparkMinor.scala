package sparkrules.spark

import org.apache.spark.sql.catalyst.expressions.{CurrentTime, Expression}
import org.apache.spark.sql.connector.catalog.ProcedureCatalog

/** What differs between the minors of Spark, for 4.1: it has no `current_path()`. */
object SparkMinor {

  /** Whether this is `current_time()`. */
  def isCurrentTime(e: Expression): Boolean = e.isInstanceOf[CurrentTime]

  /** Whether this is `current_path()`. */
  def isCurrentPath(e: Expression): Boolean = false
}

/** A catalog that can list its procedures. */
trait ListedProcedures extends ProcedureCatalog
