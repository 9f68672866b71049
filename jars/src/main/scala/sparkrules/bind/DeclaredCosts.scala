package sparkrules.bind

import java.util.Locale

import scala.collection.mutable

import org.apache.spark.sql.catalyst.analysis.UnresolvedFunction

import sparkrules.store.Segment

/**
 * What users say that calls of functions cost, as costs of slots. The functions are those of the rules' texts: what
 * Spark makes of a call may no longer have its name.
 *
 * @param costs per function, lower case: microseconds per call
 */
final class DeclaredCosts(costs: Map[String, Double], analysis: Analysis) {

  /** Per slot that calls such functions: the microseconds of all its calls. */
  def of(segment: Segment, bound: Bound): Map[Int, Double] =
    if (costs.isEmpty) Map.empty
    else {
      import segment.forest.{attributes, predicates}
      val ofAttributes = attributes.map(ofText)
      val found = mutable.HashMap.empty[Int, Double]
      def add(slot: Int, cost: Double): Unit =
        if (cost >= 0) found(slot) = math.max(cost, found.getOrElse(slot, 0.0))
      bound.predicates.indices.foreach { p =>
        bound.predicates(p).foreach { predicate =>
          val base = bound.slots(predicate.slot).base
          add(if (base >= 0) base else predicate.slot, ofAttributes(predicates.attributes(p)))
          // A search, such as RLIKE, is a function as well.
          if (base >= 0) add(predicate.slot, costs.getOrElse(predicates.operators(p).stripPrefix("not "), -1.0))
        }
      }
      found.toMap
    }

  /** The sum of all calls; negative if there is none. */
  private def ofText(sql: String): Double = {
    val text = sql.toLowerCase(Locale.ROOT)
    if (!costs.keysIterator.exists(text.contains)) -1.0
    else {
      val calls = analysis.parse(sql).toOption.toSeq.flatMap(_.collect {
        case call: UnresolvedFunction => costs.get(call.nameParts.mkString(".").toLowerCase(Locale.ROOT))
      }.flatten)
      if (calls.isEmpty) -1.0 else calls.sum
    }
  }
}
