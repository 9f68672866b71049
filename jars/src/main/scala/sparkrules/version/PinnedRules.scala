package sparkrules.version

import sparkrules.bind.Column
import sparkrules.conf.{OnMissingColumn, OnRejectedRule, Semantics}
import sparkrules.overlap.{CommonNodes, SharedNodes}
import sparkrules.program.Program
import sparkrules.store.Version

/**
 * A rule set version bound to a table and compiled, as plans carry it. Plans are equal when the description and the
 * definitions of the functions that the rules call are.
 *
 * @param removed per part: the subscriptions of its program that the version no longer has
 * @param rejected the rules that do not fit the table, and that the version still has
 */
final class PinnedRules(
    val description: ProgramKey,
    val parts: IndexedSeq[VersionPart],
    @transient private val removed: Array[Array[Int]],
    @transient val rejected: Seq[RejectedRule])
    extends Serializable {
  @transient lazy val functions: Seq[(String, Any)] = parts.flatMap(_.functions).distinctBy(_._1)

  private val subscriptions = parts.map(_.program.subscriptions).sum - removed.map(_.length).sum

  /** Whether the query's instant decides which rules can match. */
  val hasValidity: Boolean = parts.exists(!_.program.validity.isEmpty)

  /** The largest part's program: the only one, mostly. */
  def program: Program = parts.maxBy(_.program.subscriptions).program

  // A version of one part that has all its subscriptions needs none.
  private val sharedLayout: Option[LazyBroadcast[Layout]] =
    if (parts.length == 1 && removed.forall(_.isEmpty)) None
    else Some(new LazyBroadcast(() => new Layout(removed, if (parts.length > 1) Order.of(parts) else null)))

  /** What the version adds to its parts, if anything. */
  def layout: Option[Layout] = sharedLayout.map(_.value)

  @transient private val ownCommon =
    new LazyBroadcast(() => if (parts.length == 1) CommonNodes.none else CommonNodes.of(parts.map(_.digests).toArray))
  private var sharedCommon: LazyBroadcast[CommonNodes] = _

  /** To be called before it travels to where overlaps are asked for. */
  def compareParts(): Unit = sharedCommon = ownCommon

  /** Where subscriptions can share subexpressions; there once `compareParts` has been called. */
  def sharing: SharedNodes = (if (ownCommon != null) ownCommon else sharedCommon).value.sharing(parts.map(_.forest).toArray)

  /** Frees the executors' copies of what is not shared with other versions. */
  def free(): Unit = {
    sharedLayout.foreach(_.free())
    ownCommon.free()
  }

  override def hashCode: Int = description.hashCode
  override def equals(other: Any): Boolean = other match {
    case that: PinnedRules => description == that.description && functions == that.functions
    case _ => false
  }
  override def toString: String =
    s"${description.version}, $subscriptions subscriptions${description.top.fold("")(n => s", top $n")}"
}

/**
 * What a version adds to its parts.
 *
 * @param removed per part: the subscriptions of its program that the version no longer has
 * @param order the order of all subscriptions, if there are several parts
 */
final class Layout(val removed: Array[Array[Int]], val order: Order) extends Serializable

/**
 * What a compiled program is made of.
 *
 * @param statistics the number of the rule set's statistics, if it has been analysed
 * @param exact as in [[MatchCall]]
 * @param top as in [[MatchCall]]
 * @param isLocal whether the rows are part of the plan; see [[Local]]
 */
final case class ProgramKey(
    version: Version,
    row: Seq[Column],
    semantics: Semantics,
    missingColumns: OnMissingColumn,
    invalidRules: OnRejectedRule,
    strict: Boolean,
    statistics: Option[Int],
    exact: Boolean,
    top: Option[Int],
    partRules: Int,
    isLocal: Boolean)
