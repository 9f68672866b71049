package sparkrules.version

import java.lang.ref.WeakReference

import org.apache.spark.util.SizeEstimator

import sparkrules.bind.Bound
import sparkrules.overlap.Digests
import sparkrules.program.{Forest, Program, Questions}
import sparkrules.value.LazyBroadcast

/**
 * Segments of a rule set compiled for the columns of a call: all of a version or a part of it. All versions that have
 * these segments share it.
 *
 * @param bound what the program's inputs are, in terms of the columns
 * @param numbers per rule of the segments, one segment after the other: its number in the program, or -1
 * @param segmentSizes per segment: how many of `numbers` are its rules; none if the part omits removed rules
 * @param compiledForest what the program was made of. If the rules are asked about regions, the merged forest.
 * @param predicates to compare subexpressions of different parts: per node its predicate, and the digests of the
 *   predicates; null if there never is another part
 * @param asked what to ask Python, if its rules call functions of Python; as [[sparkrules.compile.Compiler]] gives it
 */
final class VersionPart(
    @transient val bound: Bound,
    @transient val functions: FunctionDefinitions,
    @transient val numbers: Array[Int],
    @transient val segmentSizes: Seq[Int],
    @transient val rejected: Seq[RejectedRule],
    @transient private val compiled: Program,
    @transient private val compiledForest: Forest,
    @transient private val predicates: (Array[Int], Array[Long]),
    @transient private val asked: Option[(Questions, Map[Int, (Double, Int)])])
    extends Serializable {

  /** How many inputs the program has. */
  val inputs: Int = bound.columns.length + bound.extras.length

  private val sharedProgram = new LazyBroadcast(() => compiled)
  private val sharedForest = new LazyBroadcast(() => compiledForest)

  def program: Program = sharedProgram.value

  /** Where overlaps, errors and the rules of a region are found; matching alone does not need it. */
  def forest: Forest = sharedForest.value

  /** To compare subexpressions with those of other parts, on the driver. */
  @transient lazy val digests: Digests = Digests.of(compiledForest, predicates._1, predicates._2)

  def free(): Unit = (Seq(sharedProgram, sharedForest) ++ sharedQuestions).foreach(_.free())

  @transient lazy val bytes: Long =
    SizeEstimator.estimate(compiled) + SizeEstimator.estimate(compiledForest) +
      asked.fold(0L)(SizeEstimator.estimate(_)) + 4L * numbers.length +
      (if (predicates == null) 0L else 4L * predicates._1.length + 8L * predicates._2.length)

  /** Whether its rules call Python functions. */
  val callsPython: Boolean = asked.isDefined

  private val sharedQuestions = asked.map { case (questions, _) => new LazyBroadcast(() => questions) }

  /** What to ask before a row is matched, if its rules call Python functions. */
  def questions: Questions = sharedQuestions.get.value

  /** What a call costs whose result is this input, in microseconds, and how many rules may need it. */
  def uses(input: Int): (Double, Int) = asked.flatMap(_._2.get(input)).getOrElse((0.0, 0))

  @transient private var lastPlaces: (WeakReference[Program], Array[Int]) = _

  /** As [[Order.places]]. The last result is kept, because successive versions have the same large part. */
  def placesIn(main: Program): Array[Int] = synchronized {
    if (lastPlaces == null || (lastPlaces._1.get ne main)) {
      lastPlaces = (new WeakReference(main), Order.places(compiled, main))
    }
    lastPlaces._2
  }
}
