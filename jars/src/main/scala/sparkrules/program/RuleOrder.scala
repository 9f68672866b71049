package sparkrules.program

import org.apache.spark.unsafe.types.UTF8String

/** The order in which rules are reported: highest priority first, then by id. */
object RuleOrder {
  def compare(priority: Int, id: UTF8String, otherPriority: Int, otherId: UTF8String): Int =
    if (priority != otherPriority) Integer.compare(otherPriority, priority) else id.binaryCompare(otherId)
}
