package sparkrules.spark

import org.apache.spark.sql.catalyst.expressions.{CurrentPath, CurrentTime, Expression}
import org.apache.spark.sql.connector.catalog.ProcedureCatalog

/** What differs between the minors of Spark, for 4.2 and newer. */
object SparkMinor {

  /** Whether this is `current_time()`. */
  def isCurrentTime(e: Expression): Boolean = e.isInstanceOf[CurrentTime]

  /** Whether this is `current_path()`. */
  def isCurrentPath(e: Expression): Boolean = e.isInstanceOf[CurrentPath]
}

/** A catalog that can list its procedures. */
trait ListedProcedures extends ProcedureCatalog
