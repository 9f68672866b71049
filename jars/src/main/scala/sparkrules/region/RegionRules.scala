package sparkrules.region

import org.apache.spark.sql.catalyst.expressions.Expression

import sparkrules.program.{Ids, Validity}
import sparkrules.value.{ExpressionBytes, Keys}
import sparkrules.version.{ProgramKey, RejectedRule, LazyBroadcast}

/**
 * A rule set version bound to columns that describe regions, as plans carry it.
 *
 * @param columns the ordinals of the columns that the rules use, among those of the call
 * @param functions the functions that its rules call, with the session's definitions
 * @param rejected the rules that do not fit the columns
 */
final class RegionRules(
    val registered: Registered,
    val description: ProgramKey,
    @transient val columns: Seq[Int],
    @transient val functions: Seq[(String, Any)],
    @transient val rejected: Seq[RejectedRule],
    @transient private val compiled: RegionProgram)
    extends Serializable {
  private val shared = new LazyBroadcast(() => compiled)
  private val count = compiled.ids.size

  val hasValidity: Boolean = !compiled.validity.isEmpty

  def program: RegionProgram = shared.value

  def free(): Unit = shared.free()

  override def hashCode: Int = description.hashCode
  override def equals(other: Any): Boolean = other match {
    case that: RegionRules =>
      registered == that.registered && description == that.description && functions == that.functions
    case _ => false
  }
  override def toString: String = s"${description.version}, $count ${registered.toString.toLowerCase}"
}

/**
 * What is needed to find the rules that could match a row of a region.
 *
 * @param shapes per column that the rules use: how it describes a region; the first inputs of the slots' expressions
 * @param expressions the slots' expressions, serialised; `bases` and `keys` as in [[Program]]
 * @param ids subscriptions in the order in which they are reported
 */
final class RegionProgram(
    val shapes: Array[RegionShape],
    expressions: Array[Byte],
    val bases: Array[Int],
    val keys: Array[Keys],
    val forest: RegionForest,
    val ids: Ids,
    val validity: Validity)
    extends Serializable {

  /** A fresh copy of the slots' expressions: they may hold state. */
  def copyExpressions(): Array[Expression] = ExpressionBytes.read(expressions)

  /** Per slot: the codes that values of its type can have. There is nothing between 3 and 4 but in a DOUBLE. */
  @transient lazy val realCodes: Array[Array[Int]] = keys.map(_.realCodes)
}
