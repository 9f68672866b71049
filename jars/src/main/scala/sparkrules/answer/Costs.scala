package sparkrules.answer

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.util.GenericArrayData
import org.apache.spark.unsafe.types.UTF8String

import sparkrules.bind.SlotTexts
import sparkrules.kernel.Runner
import sparkrules.program.Forest

/** What Spark had to compute for the current row, how long that took, and for which rules. */
final class Costs(runner: Runner, forest: Forest) {
  import runner.program.{rules, slots}

  private val times = runner.codes.time()
  private val texts = SlotTexts.of(slots.copyExpressions(), slots.bases).map(UTF8String.fromString)
  private lazy val users = Array.tabulate(slots.size) { slot =>
    new GenericArrayData(forest.users(slot).take(Costs.MostRules).map(rules.ids(_)).toArray[Any])
  }

  def ofRow(): Seq[InternalRow] = slots.fallible.toSeq.collect {
    case slot if times(slot) > 0 => InternalRow(texts(slot), times(slot), users(slot))
  }
}

object Costs {
  // How many of the rules that share a value are named.
  private val MostRules = 5
}
