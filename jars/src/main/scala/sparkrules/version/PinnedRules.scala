package sparkrules.version

import scala.collection.mutable

import sparkrules.label.{FieldValues, RuleField}
import sparkrules.overlap.CommonNodes
import sparkrules.program.Hidden
import sparkrules.store.Store
import sparkrules.value.LazyBroadcast

/**
 * A version compiled for the columns of a call, as plans carry it. Plans are equal if their keys are equal, and so are
 * the definitions of the functions that the rules call.
 *
 * @param removed per part: the rules of its program that the version has removed
 * @param rejected the rejected rules that the version still has
 * @param isGeneral whether the rules have been pruned, and may match too much
 * @param maxCalls how many calls of Python functions a query may make, if that is limited
 * @param fields the metadata of the rules, on the driver
 */
final class PinnedRules private (
    val key: ProgramKey,
    val parts: IndexedSeq[VersionPart],
    @transient private val removed: Array[Array[Int]],
    @transient private val rejected: Seq[RejectedRule],
    isGeneral: Boolean,
    @transient val maxCalls: Option[Long],
    @transient val fields: RuleFields)
    extends Serializable {
  @transient lazy val functions: FunctionDefinitions = parts.map(_.functions).foldLeft(FunctionDefinitions.none)(_ ++ _)

  /** How many rules the version has, without those that are rejected. */
  val ruleCount: Int = parts.map(_.program.rules.size).sum - removed.map(_.length).sum

  /** Whether the query's instant decides which rules can match. */
  val hasValidity: Boolean = parts.exists(!_.program.rules.validity.isEmpty)

  /** The rejected rules that would be valid at an instant, in microseconds. On the driver. */
  def rejectedAt(instant: Long): Seq[RejectedRule] = rejected.filter(_.isValid(instant))

  // A version of one part with nothing removed needs none.
  private val sharedLayout: Option[LazyBroadcast[Layout]] =
    if (parts.length == 1 && removed.forall(_.isEmpty)) None
    else Some(new LazyBroadcast(() => new Layout(removed, if (parts.length > 1) Order.of(parts) else null)))

  /** What the version adds to its parts, if anything. */
  def layout: Option[Layout] = sharedLayout.map(_.value)

  /** The rules of a part that do not take part at the query's instant; see [[Hidden]]. */
  def hidden(part: Int, instant: Option[Long]): Array[Long] = {
    val program = parts(part).program
    Hidden.of(program.rules.size, program.rules.validity, layout.fold(Array.empty[Int])(_.removed(part)), instant)
  }

  /**
   * The subexpressions that several parts have; on the driver. Only queries for overlaps send them to executors: for
   * all others the parts are never compared.
   */
  @transient val commonNodes: LazyBroadcast[CommonNodes] =
    new LazyBroadcast(() => if (parts.length == 1) CommonNodes.none else CommonNodes.of(parts.map(_.digests).toArray))

  /** Frees the executors' copies of what is not shared with other versions. */
  def free(): Unit = {
    sharedLayout.foreach(_.free())
    commonNodes.free()
    fields.free()
  }

  override def hashCode: Int = key.hashCode
  override def equals(other: Any): Boolean = other match {
    case that: PinnedRules => key == that.key && functions == that.functions
    case _ => false
  }
  override def toString: String =
    s"${key.version}, ${key.question.counted(ruleCount)}${if (isGeneral) ", general" else ""}" +
      key.top.fold("")(n => s", top $n") + key.selection
}

object PinnedRules {

  /** @param removedRows per part: the rows of its segments that the version has removed */
  def apply(
      key: ProgramKey,
      parts: IndexedSeq[VersionPart],
      removedRows: IndexedSeq[Array[Int]],
      isGeneral: Boolean,
      maxCalls: Option[Long],
      fields: RuleFields): PinnedRules = {
    val numbers = parts.zip(removedRows).map { case (part, rows) => rows.map(part.numbers(_)).filter(_ >= 0).distinct }
    val rejected = parts.zip(removedRows).flatMap { case (part, rows) =>
      val isRemoved = rows.toSet
      part.rejected.filterNot(rule => isRemoved(rule.row))
    }
    new PinnedRules(key, parts, numbers.toArray, rejected, isGeneral, maxCalls, fields)
  }
}

/**
 * What a version adds to its parts.
 *
 * @param removed per part: the rules of its program that the version has removed
 * @param order the order of all rules, if there are several parts
 */
final class Layout(val removed: Array[Array[Int]], val order: Order) extends Serializable

/** The fields of the rules of a version, read on the driver when a query first needs them. */
final class RuleFields(store: Store, ruleSet: String, parts: Seq[(PartSpec, VersionPart)]) {
  private val made = mutable.Map.empty[RuleField, LazyBroadcast[FieldValues]]

  def apply(field: RuleField): LazyBroadcast[FieldValues] =
    synchronized(made.getOrElseUpdate(field, new LazyBroadcast(() => read(field))))

  /** Frees the executors' copies. */
  def free(): Unit = synchronized(made.values.foreach(_.free()))

  private def read(field: RuleField): FieldValues = {
    val own = parts.map { case (spec, part) => FieldValues.Part(spec.segments, part.numbers, part.program.rules.size) }
    FieldValues.of(store, ruleSet, own, field)
  }
}
