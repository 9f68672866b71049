package sparkrules.store

import sparkrules.value.IntLists

/**
 * The expressions of a segment, each of them once, in tables that refer to one another by number.
 *
 * @param attributes as SQL
 */
final class StoredForest(
    val attributes: Array[String],
    val constants: StoredConstants,
    val predicates: StoredPredicates,
    val nodes: StoredNodes) {

  /** The same forest with another node for each of these Boolean expressions: the predicate that it is true. */
  def withConditions(conditions: Seq[String]): StoredForest = {
    val count = conditions.length
    new StoredForest(
      attributes ++ conditions,
      constants,
      new StoredPredicates(
        predicates.attributes ++ Array.tabulate(count)(attributes.length + _),
        predicates.operators ++ Array.fill(count)("is true"),
        predicates.constants.withEmpty(count)),
      new StoredNodes(
        nodes.operators ++ Array.fill(count)(StoredNodes.Predicate),
        nodes.predicates ++ Array.tabulate(count)(predicates.size + _),
        nodes.children.withEmpty(count)))
  }
}

object StoredForest {

  /** Forests one after the other, their numbers shifted. */
  def concatenated(forests: Seq[StoredForest]): StoredForest = {
    def starts(count: StoredForest => Int): Seq[Int] = forests.map(count).scanLeft(0)(_ + _)
    def shifted(numbers: StoredForest => Array[Int], starts: Seq[Int]): Array[Int] =
      forests.zip(starts).flatMap { case (forest, start) =>
        numbers(forest).map(number => if (number < 0) number else number + start)
      }.toArray
    def shiftedLists(lists: StoredForest => IntLists, starts: Seq[Int]): IntLists =
      IntLists.concat(forests.zip(starts).map { case (forest, start) =>
        new IntLists(lists(forest).offsets, lists(forest).values.map(_ + start))
      })
    new StoredForest(
      forests.flatMap(_.attributes).toArray,
      new StoredConstants(forests.flatMap(_.constants.kinds).toArray, forests.flatMap(_.constants.texts).toArray),
      new StoredPredicates(
        shifted(_.predicates.attributes, starts(_.attributes.length)),
        forests.flatMap(_.predicates.operators).toArray,
        shiftedLists(_.predicates.constants, starts(_.constants.size))),
      new StoredNodes(
        forests.flatMap(_.nodes.operators).toArray,
        shifted(_.nodes.predicates, starts(_.predicates.size)),
        shiftedLists(_.nodes.children, starts(_.nodes.size))))
  }
}

/** Constants: the kind of each and its text, as docs/store-format.md has them. */
final class StoredConstants(val kinds: Array[String], val texts: Array[String]) {
  def size: Int = kinds.length
}

/** Predicates: the attribute of each, its operator and its constants. */
final class StoredPredicates(val attributes: Array[Int], val operators: Array[String], val constants: IntLists) {
  def size: Int = operators.length
}

/** Nodes, children before their parents: the predicate of each, or -1, and its children. */
final class StoredNodes(val operators: Array[String], val predicates: Array[Int], val children: IntLists) {
  def size: Int = operators.length
}

object StoredNodes {

  /** The operator of a node that is a predicate. */
  val Predicate = "predicate"
}
