package sparkrules.kernel

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.vectorized.ColumnarBatch

import sparkrules.program.{Dense, Program}

/**
 * Matches rows against a [[Program]]: what changes from row to row, one for each task. A [[RowFeed]] gives it the rows.
 *
 * @param inputs the program's inputs as expressions bound to the rows that come
 * @param hidden the rules that do not take part, as [[sparkrules.program.Hidden]] gives them
 * @param top how many matches are wanted, the first in their order
 * @param nested what reads the arrays, maps and structs of the inputs; runners of one feed can share it
 */
final class Runner(
    val program: Program,
    inputs: Seq[Expression],
    hidden: Array[Long] = null,
    top: Int = Int.MaxValue,
    nested: NestedValues = new NestedValues) {
  import program.code.{bands, dense, hasRepeats}

  /** The codes of the current row. */
  val codes = new SlotCodes(program.slots, inputs, nested)

  /** The rules that match it. */
  val found = new FoundRules(program.rules.size, hasRepeats, hidden, codes)

  /** What cannot be computed for it. */
  val errors = new RuleErrors(program, codes, hidden)

  private val interpreter = new Interpreter(program.code, codes, found)
  private val denseRunner = if (dense.isEmpty) null else new DenseRunner(dense, codes)
  private var position = 0 // of the next row in its chunk
  private val isSimple = bands.length == 1 && hidden == null

  /** Since this was made: predicates that were tested, and those of them that were true. */
  def tested: Long = interpreter.tested
  def passed: Long = interpreter.passed

  /** How many rows are announced at once before they are run: some rules are evaluated for all of them together. */
  private[kernel] def chunk: Int = if (denseRunner == null) 0 else Dense.Rows

  private[kernel] def startBatch(batch: ColumnarBatch): Unit = codes.startBatch(batch)

  /** Before rows that are not those of a batch. */
  private[kernel] def startRows(): Unit = codes.startRows()

  private[kernel] def startChunk(rows: Int, at: Int => InternalRow): Unit = if (denseRunner != null) {
    denseRunner.evaluate(rows, at)
    position = 0
  }

  private[kernel] def run(row: InternalRow): Unit = {
    codes.startRow(row)
    found.clear()
    if (isSimple) interpreter.execute(0) else executeBands()
    found.endOfCode()
    if (denseRunner != null) {
      found.addDense(denseRunner, position)
      position += 1
    }
    found.cut(top)
  }

  /** One band after the other, until there are enough matches. */
  private def executeBands(): Unit = {
    var band = 0
    while (band < bands.length && found.count < top) {
      val before = found.count
      interpreter.execute(bands(band))
      found.hideFrom(before)
      band += 1
    }
  }
}
