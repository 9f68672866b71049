package sparkrules.answer

import scala.collection.mutable

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.util.{ArrayData, GenericArrayData}
import org.apache.spark.unsafe.types.UTF8String

import sparkrules.bind.SlotTexts
import sparkrules.kernel.Runner
import sparkrules.value.Keys

/** Where the last row of a matcher lies: per attribute, and per test of a text, the range of its value. */
final class Ranges(matcher: Runner) {
  import matcher.program

  private val attributes = SlotTexts.of(program.copyExpressions(), program.bases).map(UTF8String.fromString)
  // Whole texts of rules are there to fail as Spark's WHERE does; no test of a rule needs them.
  private val slots = program.bases.indices.diff(program.texts.toSeq).toArray
  private val known = Array.fill(slots.length)(mutable.LongMap.empty[InternalRow])

  def ofRow(): ArrayData = new GenericArrayData(Array.tabulate[Any](slots.length) { i =>
    val code = matcher.code(slots(i))
    known(i).getOrElseUpdate(code.toLong, range(slots(i), code))
  })

  private def range(slot: Int, code: Int): InternalRow = {
    val keys = program.keys(slot)
    def key(index: Int): UTF8String = if (index < 0 || index >= keys.size) null else keys.text(index)
    val (lower, upper) =
      if (code <= Keys.NullCode) (null, null)
      else if (code % 2 == 0) (key(code / 2 - 1), key(code / 2 - 1))
      else (key(code / 2 - 1), key(code / 2))
    InternalRow(attributes(slot), code, lower, upper)
  }
}
