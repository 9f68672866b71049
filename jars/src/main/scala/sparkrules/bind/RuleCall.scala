package sparkrules.bind

import org.apache.spark.sql.catalyst.expressions._

import sparkrules.conf.Semantics
import sparkrules.label.Selection

/** A call that asks a rule set about a row or a region, resolved but not yet tied to a version. */
trait RuleCall extends Expression with Unevaluable {

  /** The name given in the call, if any. */
  def ruleSet: Option[String]

  /** The names of the columns that rules may use, qualifiers first. */
  def names: Seq[Seq[String]]

  /** Those columns. */
  def inputs: Seq[Expression]

  def question: Question

  /** The columns as rules see them. */
  def columns: Seq[Column] = names.zip(inputs).map { case (names, input) => Column.of(names, input) }

  def semantics: Semantics

  /** The query's instant, which a stream replaces by that of the micro-batch. */
  def instant: Expression

  /** Whether the range of a value is wanted for itself, and not only for the predicates of the rules. */
  def exact: Boolean

  /** How many matches are wanted, the first in their order; all if it is not given. */
  def top: Option[Int]

  /** Which rules are asked: those that are live, unless the call says otherwise. */
  def selection: Selection = Selection()

  /** The instant in microseconds, as far as it is known while the query is planned. */
  final def now: Long = instant match {
    case CurrentBatchTimestamp(millis, _, _) => millis * 1000
    case _ => System.currentTimeMillis * 1000
  }

  /** An expression of the rules as the stream would have changed it, had it been in the query's text. */
  def inBatch(e: Expression): Expression = instant match {
    case CurrentBatchTimestamp(millis, _, _) =>
      e.transform {
        case t: CurrentTimestamp => CurrentBatchTimestamp(millis, t.dataType, Some("UTC"))
        case t: LocalTimestamp => CurrentBatchTimestamp(millis, t.dataType, t.timeZoneId)
        case d: CurrentDate => CurrentBatchTimestamp(millis, d.dataType, d.timeZoneId)
      }
    case _ => e
  }
}

object RuleCall {
  /** An instant that the query, or the micro-batch, has given its value. */
  def micros(instant: Option[Expression]): Option[Long] = instant.map(_.eval(EmptyRow).asInstanceOf[Long])
}
