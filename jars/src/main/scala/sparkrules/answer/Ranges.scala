package sparkrules.answer

import scala.collection.mutable

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.util.ArrayData
import org.apache.spark.unsafe.types.UTF8String

import sparkrules.bind.SlotTexts
import sparkrules.kernel.Runner
import sparkrules.value.Keys

/** Where the current row of a runner lies: per attribute, and per search of a string, the range of its value. */
final class Ranges(runner: Runner) {
  import runner.program

  private val attributes = SlotTexts.of(program.slots.copyExpressions(), program.slots.bases).map(UTF8String.fromString)
  // The slots of whole rules are there to fail as Spark's WHERE does; no predicate needs them.
  private val slots = program.slots.bases.indices.diff(program.rules.wholeTexts.toSeq).toArray
  private val known = Array.fill(slots.length)(mutable.LongMap.empty[InternalRow])

  def ofRow(): ArrayData = StructArray.of(slots.indices.map { i =>
    val code = runner.codes.of(slots(i))
    known(i).getOrElseUpdate(code.toLong, range(slots(i), code))
  })

  private def range(slot: Int, code: Int): InternalRow = {
    val keys = program.slots.keys(slot)
    def key(index: Int): UTF8String = if (index < 0 || index >= keys.size) null else keys.text(index)
    val (lower, upper) =
      if (code <= Keys.NullCode) (null, null)
      else if (code % 2 == 0) (key(code / 2 - 1), key(code / 2 - 1))
      else (key(code / 2 - 1), key(code / 2))
    InternalRow(attributes(slot), code, lower, upper)
  }
}
