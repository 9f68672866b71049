package sparkrules

import java.io.ObjectOutputStream

import org.apache.spark.broadcast.Broadcast
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.types.DataType

/**
 * A rule set version bound to a table and compiled, as plans carry it. Plans are equal when the description and the
 * definitions of the functions that the rules call are. The program is broadcast when it first travels to an executor,
 * so planning and EXPLAIN cost none.
 */
final class PinnedRules(
    val description: Description,
    @transient val functions: Seq[(String, Any)],
    @transient private val compiled: Program,
    @transient private val compiledForest: Forest)
    extends Serializable {
  private val subscriptions = compiled.subscriptions
  @transient private lazy val sent: Broadcast[Program] = SparkSession.active.sparkContext.broadcast(compiled)
  @transient private lazy val sentForest: Broadcast[Forest] = SparkSession.active.sparkContext.broadcast(compiledForest)
  private var received: Broadcast[Program] = _
  private var receivedForest: Broadcast[Forest] = _

  def program: Program = if (compiled != null) compiled else received.value

  /** What overlaps and errors are found with, and nothing else: an executor fetches it when it is first asked for. */
  def forest: Forest = if (compiledForest != null) compiledForest else receivedForest.value

  private def writeObject(out: ObjectOutputStream): Unit = {
    if (compiled != null) {
      received = sent
      receivedForest = sentForest
    }
    out.defaultWriteObject()
  }

  override def hashCode: Int = description.hashCode
  override def equals(other: Any): Boolean = other match {
    case that: PinnedRules => description == that.description && functions == that.functions
    case _ => false
  }
  override def toString: String = s"${description.version}, $subscriptions subscriptions"
}

/**
 * What a compiled program is made of.
 *
 * @param statistics the number of the rule set's statistics, if it has been analysed
 * @param exact as in [[MatchCall]]
 */
final case class Description(
    version: Version,
    row: Seq[Column],
    semantics: Semantics,
    missingColumns: String,
    invalidRules: String,
    strict: Boolean,
    statistics: Option[Int],
    exact: Boolean)

/** A column that rules may use: its name, after the qualifiers that it may be given, and its type. */
final case class Column(names: Seq[String], dataType: DataType, nullable: Boolean)
