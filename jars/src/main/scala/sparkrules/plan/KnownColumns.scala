package sparkrules.plan

import org.apache.spark.sql.execution.{FileSourceScanExec, SparkPlan, UnionExec}
import org.apache.spark.sql.execution.adaptive.TableCacheQueryStageExec
import org.apache.spark.sql.execution.columnar.InMemoryTableScanExec
import org.apache.spark.sql.execution.datasources.v2.{BatchScanExec, MicroBatchScanExec}
import org.apache.spark.sql.execution.vectorized.{ConstantColumnVector, OffHeapColumnVector, OnHeapColumnVector}
import org.apache.spark.sql.vectorized.{ArrowColumnVector, ColumnVector, ColumnarBatch}

/**
 * Where columns can be read by themselves. Everywhere else rows are taken, as by any other operator of Spark: a column
 * of a class that nobody here knows may be read late, and fail then; a rule would take that for a value that it cannot
 * compute. The columns of a library that runs plans elsewhere, on a GPU say, may not be readable at all.
 */
private object KnownColumns {

  /** Whether Spark itself runs a plan that gives columns; what a data source makes them of, its batches tell. */
  def areFrom(plan: SparkPlan): Boolean = plan match {
    case _: FileSourceScanExec | _: BatchScanExec | _: MicroBatchScanExec | _: InMemoryTableScanExec => true
    case cached: TableCacheQueryStageExec => areFrom(cached.plan)
    case union: UnionExec => union.children.forall(areFrom)
    case _ => false
  }

  /** Whether all columns of a batch are known. */
  def areIn(batch: ColumnarBatch): Boolean = {
    var i = 0
    while (i < batch.numCols && isKnown(batch.column(i).getClass)) i += 1
    i == batch.numCols
  }

  private def isKnown(column: Class[_ <: ColumnVector]): Boolean =
    Own(column) || Packages(column.getPackageName)

  // Not their subclasses, which others write.
  private val Own = Set[Class[_ <: ColumnVector]](
    classOf[OnHeapColumnVector],
    classOf[OffHeapColumnVector],
    classOf[ConstantColumnVector],
    classOf[ArrowColumnVector])

  /** Of readers whose columns are in memory when a batch comes: Spark's of ORC, and Iceberg's. */
  private val Packages =
    Set("org.apache.spark.sql.execution.datasources.orc", "org.apache.iceberg.spark.data.vectorized")
}
