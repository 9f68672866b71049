package sparkrules.answer

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.unsafe.types.UTF8String

import sparkrules.bind.SlotTexts
import sparkrules.kernel.Runner

/** How long it takes to compute each value of the current row that is not a column, whether a rule needs it or not. */
final class Times(runner: Runner) {
  import runner.program.slots

  private val times = runner.codes.time()
  private val texts = SlotTexts.of(slots.copyExpressions(), slots.bases).map(UTF8String.fromString)

  def ofRow(): Seq[InternalRow] = slots.fallible.toSeq.flatMap { slot =>
    runner.codes.of(slot)
    // A search that one pass over the string decides takes no time of its own.
    Option.when(times(slot) > 0)(InternalRow(texts(slot), times(slot)))
  }
}
