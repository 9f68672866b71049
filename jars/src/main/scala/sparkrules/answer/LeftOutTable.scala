package sparkrules.answer

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types.StringType
import org.apache.spark.unsafe.types.UTF8String

import sparkrules.version.RejectedRule

/** The rules that are rejected on the columns of a call, and why. */
object LeftOutTable {
  private val Type = StructArray("subscription_id" -> StringType, "reason" -> StringType)()

  def of(rejected: Seq[RejectedRule]): ConstantTable = {
    val rows = rejected.sortBy(_.id).map { rule =>
      InternalRow(UTF8String.fromString(rule.id), UTF8String.fromString(rule.rejection.reason))
    }
    ConstantTable("subscriptions_left_out", Type, StructArray.of(rows))
  }
}
