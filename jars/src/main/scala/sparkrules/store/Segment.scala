package sparkrules.store

import org.apache.spark.unsafe.types.UTF8String

import sparkrules.value.IntLists

/**
 * A published rule set as it lies in the store (docs/store-format.md): texts and numbers, bound to no table yet.
 *
 * @param validFrom per subscription: the first microsecond at which it can match, or [[ArrowTable.NoInstant]]
 * @param validUntil per subscription: the first at which it no longer can, or [[ArrowTable.NoInstant]]
 */
final class Segment(
    val attributes: Array[String],
    val constantKinds: Array[String],
    val constantTexts: Array[String],
    val predicateAttributes: Array[Int],
    val predicateOperators: Array[String],
    val predicateConstants: IntLists,
    val nodeOperators: Array[String],
    val nodePredicates: Array[Int],
    val nodeChildren: IntLists,
    val ruleIds: Array[UTF8String],
    val ruleNodes: Array[Int],
    val rulePriorities: Array[Int],
    texts: () => Array[String],
    val validFrom: Array[Long],
    val validUntil: Array[Long],
    val functions: Array[String]) {

  /** The rules as Spark SQL, read only when they are asked for: they are most of what a segment takes up. */
  lazy val ruleTexts: Array[String] = texts()

  /** The same rule set, with these subscriptions carried as one test each, of their whole text. */
  def withWholeTexts(subscriptions: Seq[Int]): Segment = {
    val count = subscriptions.length
    val roots = ruleNodes.clone()
    subscriptions.zipWithIndex.foreach { case (s, i) => roots(s) = nodeOperators.length + i }
    new Segment(
      attributes ++ subscriptions.map(ruleTexts(_)),
      constantKinds,
      constantTexts,
      predicateAttributes ++ Array.tabulate(count)(attributes.length + _),
      predicateOperators ++ Array.fill(count)("is true"),
      predicateConstants.withEmpty(count),
      nodeOperators ++ Array.fill(count)("predicate"),
      nodePredicates ++ Array.tabulate(count)(predicateOperators.length + _),
      nodeChildren.withEmpty(count),
      ruleIds,
      roots,
      rulePriorities,
      texts,
      validFrom,
      validUntil,
      functions)
  }
}

object Segment {

  /** Segments one after the other, their numbers shifted. */
  def concatenated(segments: Seq[Segment]): Segment = segments match {
    case Seq(one) => one
    case _ =>
      def shifted(lists: Segment => IntLists, by: Segment => Int): IntLists =
        IntLists(segments.zip(shifts(by)).flatMap { case (segment, shift) =>
          val all = lists(segment)
          Seq.tabulate(all.size)(i => all(i).map(_ + shift))
        })
      def shiftedInts(ints: Segment => Array[Int], by: Segment => Int): Array[Int] =
        segments.zip(shifts(by)).flatMap { case (s, shift) => ints(s).map(i => if (i < 0) i else i + shift) }.toArray
      def shifts(count: Segment => Int): Seq[Int] = segments.map(count).scanLeft(0)(_ + _)
      new Segment(
        segments.flatMap(_.attributes).toArray,
        segments.flatMap(_.constantKinds).toArray,
        segments.flatMap(_.constantTexts).toArray,
        shiftedInts(_.predicateAttributes, _.attributes.length),
        segments.flatMap(_.predicateOperators).toArray,
        shifted(_.predicateConstants, _.constantKinds.length),
        segments.flatMap(_.nodeOperators).toArray,
        shiftedInts(_.nodePredicates, _.predicateOperators.length),
        shifted(_.nodeChildren, _.nodeOperators.length),
        segments.flatMap(_.ruleIds).toArray,
        shiftedInts(_.ruleNodes, _.nodeOperators.length),
        segments.flatMap(_.rulePriorities).toArray,
        () => segments.flatMap(_.ruleTexts).toArray,
        segments.flatMap(_.validFrom).toArray,
        segments.flatMap(_.validUntil).toArray,
        segments.flatMap(_.functions).distinct.toArray)
  }
}
