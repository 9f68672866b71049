package sparkrules.catalog

import scala.collection.mutable

import sparkrules.store.{CountedTests, Statistics, StoredForest}

/** A predicate by the codes of a slot where it is true for certain, and where it may be. */
private final case class CodedPredicate(slot: Int, inside: Array[Int], touched: Array[Int])

/**
 * What the statistics of a rule set say about predicates, without a table to bind them to. A predicate that was there
 * is exact. The constants of a new one are placed among the counted ranges, where that is certain. Python has the
 * same (`counted_predicates.py`).
 */
private final class CountedPredicates(statistics: Statistics, tests: CountedTests) {
  private val numbers = mutable.HashMap.empty[String, Int]
  private val known = mutable.HashMap.empty[CountedPredicates.Key, CodedPredicate]
  private val ofAttribute = mutable.HashMap.empty[String, Int]

  /** The slots, in the order of their first predicates. */
  val slots: IndexedSeq[CountedSlot] = {
    val made = mutable.ArrayBuffer.empty[CountedSlot]
    (0 until tests.size).foreach { i =>
      val slot = numbers.getOrElseUpdate(tests.slots(i), {
        made += new CountedSlot(tests.types(i), tests.positions(i), statistics.rangesOf(tests.slots(i)))
        made.length - 1
      })
      val codes = tests.first(i).zip(tests.last(i)).flatMap { case (first, last) => Array(first, last) }
      known((tests.attributes(i), tests.operators(i), tests.constants(i))) = CodedPredicate(slot, codes, codes)
      if (tests.attributes(i).equalsIgnoreCase(tests.slots(i))) ofAttribute(tests.attributes(i)) = slot
    }
    made.toIndexedSeq
  }

  def rows: Int = statistics.rows

  def of(forest: StoredForest, predicate: Int): Option[CodedPredicate] = {
    val attribute = forest.attributes(forest.predicates.attributes(predicate))
    val operator = forest.predicates.operators(predicate)
    val constants =
      forest.predicates.constants(predicate).toSeq.map(c => (forest.constants.kinds(c), forest.constants.texts(c)))
    known.get((attribute, operator, CountedPredicates.text(constants))).orElse {
      for (slot <- ofAttribute.get(attribute); (inside, touched) <- slots(slot).placed(operator, constants))
        yield CodedPredicate(slot, inside, touched)
    }
  }
}

private object CountedPredicates {
  private type Key = (String, String, String)

  /** Constants, each with its kind, as one string: see docs/store-format.md. */
  private def text(constants: Seq[(String, String)]): String =
    constants.map { case (kind, text) => s"$kind '${text.replace("\\", "\\\\").replace("'", "\\'")}'" }.mkString(", ")
}
