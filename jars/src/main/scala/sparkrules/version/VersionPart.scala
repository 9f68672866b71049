package sparkrules.version

import java.lang.ref.WeakReference

import org.apache.spark.sql.catalyst.expressions.PythonUDF
import org.apache.spark.util.SizeEstimator

import sparkrules.bind.Bound
import sparkrules.guard.Rejection
import sparkrules.overlap.Digests
import sparkrules.program.{Forest, Program}

/**
 * Segments of a rule set bound to a table and compiled: all of a version or a part of it, shared by all versions that
 * have it.
 *
 * @param bound what the program's inputs are, in terms of the table
 * @param functions the functions that its rules call, with the session's definitions
 * @param numbers per subscription of the segments, one segment after the other: its number in the program, or -1
 * @param starts per segment: its first subscription among `numbers`; none if some are left out
 * @param rejected the subscriptions that do not fit the table
 * @param predicates what subexpressions are compared with over parts: per node its predicate, and the digests of these;
 *   null if there never is another part
 */
final class VersionPart(
    @transient val bound: Bound,
    @transient val functions: Seq[(String, Any)],
    @transient val numbers: Array[Int],
    @transient val starts: Seq[Int],
    @transient val rejected: Seq[RejectedRule],
    @transient private val compiled: Program,
    @transient private val compiledForest: Forest,
    @transient private val predicates: (Array[Int], Array[Long]))
    extends Serializable {

  /** How many inputs the program has. */
  val inputs: Int = bound.columns.length + bound.extras.length

  private val sharedProgram = new LazyBroadcast(() => compiled)
  private val sharedForest = new LazyBroadcast(() => compiledForest)

  def program: Program = sharedProgram.value

  /** What overlaps and errors are found with, and nothing else. */
  def forest: Forest = sharedForest.value

  /** What subexpressions are compared with over parts, on the driver. */
  @transient lazy val digests: Digests = Digests.of(compiledForest, predicates._1, predicates._2)

  def free(): Unit = Seq(sharedProgram, sharedForest).foreach(_.free())

  @transient lazy val bytes: Long =
    SizeEstimator.estimate(compiled) + SizeEstimator.estimate(compiledForest) + 4L * numbers.length +
      (if (predicates == null) 0L else 4L * predicates._1.length + 8L * predicates._2.length)

  /** Whether it has Python functions, which are called for every row whether a rule asks or not. */
  @transient lazy val callsPython: Boolean = bound.extras.exists(_.exists(_.isInstanceOf[PythonUDF]))

  @transient private var lastPlaces: (WeakReference[Program], Array[Int]) = _

  /** As [[Order.places]]; remembered, since versions that follow each other have the same large parts. */
  def placesIn(main: Program): Array[Int] = synchronized {
    if (lastPlaces == null || (lastPlaces._1.get ne main)) {
      lastPlaces = (new WeakReference(main), Order.places(compiled, main))
    }
    lastPlaces._2
  }
}

/** A rule that does not fit the table; `row` among the subscriptions of a part's segments. */
final case class RejectedRule(row: Int, id: String, rejection: Rejection, validFrom: Long, validUntil: Long)
