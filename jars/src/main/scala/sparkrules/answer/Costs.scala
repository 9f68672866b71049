package sparkrules.answer

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.util.{ArrayData, GenericArrayData}
import org.apache.spark.unsafe.types.UTF8String

import sparkrules.bind.SlotTexts
import sparkrules.kernel.Runner
import sparkrules.program.Forest

/** What Spark had to compute for the last row, how long that took, and for which rules. */
final class Costs(matcher: Runner, forest: Forest) {
  import matcher.program

  private val times = matcher.time()
  private val texts = SlotTexts.of(program.copyExpressions(), program.bases).map(UTF8String.fromString)
  private lazy val users = Array.tabulate(texts.length) { slot =>
    new GenericArrayData(forest.users(slot).take(Costs.MostRules).map(program.ids(_)).toArray[Any])
  }

  def ofRow(): Seq[InternalRow] = program.fallible.toSeq.collect {
    case slot if times(slot) > 0 => InternalRow(texts(slot), times(slot), users(slot))
  }
}

object Costs {
  // Of those that share a test.
  private val MostRules = 5

  def array(all: Seq[Costs]): ArrayData = new GenericArrayData(all.flatMap(_.ofRow()).toArray[Any])
}
