package sparkrules.region

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenFallback
import org.apache.spark.sql.types.{ArrayType, DataType, StringType}

import sparkrules.bind.RuleCall
import sparkrules.conf.Semantics
import sparkrules.store.{Manifest, SegmentEntry}

/** Conditions of a rule set that can be asked which of them could be true in a region. */
sealed abstract class Registered(val function: String, val noun: String) extends Product with Serializable {
  /** The segments that a version has of them. */
  def segments(manifest: Manifest): Seq[SegmentEntry]
}

object Registered {
  case object Subscriptions extends Registered("overlap_subscriptions", "rule") {
    override def segments(manifest: Manifest): Seq[SegmentEntry] = manifest.segments
  }
  case object Advertisements extends Registered("overlap_advertisements", "advertisement") {
    override def segments(manifest: Manifest): Seq[SegmentEntry] =
      manifest.advertisements.toSeq
  }
}

/** A call of `overlap_subscriptions` or `overlap_advertisements` as the user wrote it; see [[MatchCall]]. */
final case class RegionCall(
    registered: Registered,
    ruleSet: Option[String],
    names: Seq[Seq[String]],
    inputs: Seq[Expression],
    semantics: Semantics,
    instant: Expression = CurrentTimestamp())
    extends RuleCall {
  override def children: Seq[Expression] = inputs :+ instant
  override def dataType: DataType = RegionCall.Ids
  override def nullable: Boolean = false
  override def prettyName: String = registered.function
  override def sql: String = s"$prettyName(${inputs.map(_.sql).mkString(", ")})"
  override def toString: String = s"$prettyName(${inputs.mkString(", ")})"
  override protected def withNewChildrenInternal(newChildren: IndexedSeq[Expression]): RegionCall =
    copy(inputs = newChildren.init, instant = newChildren.last)

  /** How each column describes the region. */
  lazy val shapes: Seq[RegionShape] = names.zip(inputs).map { case (name, e) =>
    RegionShape.of(registered.function, name.last, e.dataType)
  }

  override def exact: Boolean = true
  override def top: Option[Int] = None
}

object RegionCall {
  val Ids: DataType = ArrayType(StringType, containsNull = false)
}

/** A call that is tied to a version. It is no operator: regions are few. */
final case class PinnedRegion(inputs: Seq[Expression], rules: RegionRules, instant: Option[Expression])
    extends Expression
    with CodegenFallback {
  override def children: Seq[Expression] = inputs ++ instant
  override def dataType: DataType = RegionCall.Ids
  override def nullable: Boolean = false
  override def stateful: Boolean = true
  override def prettyName: String = rules.registered.function
  override protected def withNewChildrenInternal(newChildren: IndexedSeq[Expression]): PinnedRegion =
    copy(inputs = newChildren.take(inputs.length), instant = newChildren.drop(inputs.length).headOption)

  @transient private lazy val matcher = new RegionMatcher(rules.program, inputs, RuleCall.micros(instant))

  override def eval(input: InternalRow): Any = matcher.overlapping(input)
}
