package sparkrules.bind

import org.apache.spark.sql.catalyst.expressions._

import sparkrules.conf.Semantics

/** A resolved call that asks a rule set about a row or a region. It has no version yet. */
trait RuleCall extends Expression with Unevaluable {

  /** The name given in the call, if any. */
  def ruleSet: Option[String]

  /** The names of the columns that rules can use, qualifiers first. */
  def names: Seq[Seq[String]]

  /** Those columns. */
  def inputs: Seq[Expression]

  def semantics: Semantics

  /** The instant of the query; in a stream, that of the micro-batch. */
  def instant: Expression

  /** Whether the call asks for the ranges of values, and not only for the predicates of the rules. */
  def exact: Boolean

  /** How many of the first matches the call asks for; None for all. */
  def top: Option[Int]

  /** An expression of the rules as the stream would change it if it were part of the query. */
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
  /** The value of an instant, in microseconds. */
  def micros(instant: Option[Expression]): Option[Long] = instant.map(_.eval(EmptyRow).asInstanceOf[Long])
}
