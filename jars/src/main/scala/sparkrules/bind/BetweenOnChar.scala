package sparkrules.bind

import org.apache.spark.sql.catalyst.analysis.{UnresolvedAttribute, UnresolvedFunction}
import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression}

import sparkrules.store.Segment

/**
 * Finds the rules with `c BETWEEN 'a' AND 'b'` on a CHAR(n). The store has two comparisons in its place, which other
 * rules share. Spark pads these, but not BETWEEN. Only Spark's parser tells the one from the other.
 */
object BetweenOnChar {
  private val Ranges = Set("<", "<=", ">", ">=")

  def rules(segment: Segment, analysis: Analysis): Seq[Int] = {
    val padded = paddedColumns(segment, analysis)
    val uses = comparing(segment, padded.keySet)
    val names = padded.values.toSet
    segment.rules.nodes.indices.filter { rule =>
      // If the text cannot be parsed, Spark has to reject it as a whole.
      uses(segment.rules.nodes(rule)) && analysis.parse(segment.rules.texts(rule)).forall(isBetween(_, names))
    }
  }

  /** The attributes that are a CHAR(n), by number: the name of each as it is written. */
  private def paddedColumns(segment: Segment, analysis: Analysis): Map[Int, Seq[String]] = {
    val names = segment.forest.attributes.indices.flatMap { a =>
      analysis.parse(segment.forest.attributes(a)).toOption.collect { case name: UnresolvedAttribute => a -> name }
    }
    names.zip(analysis.analyze(names.map(_._2))).collect {
      case ((a, name), Right(column: Attribute)) if Column.charLength(column).isDefined => a -> name.nameParts
    }.toMap
  }

  /** Per node: whether it has a comparison with one of these attributes that BETWEEN can have become. */
  private def comparing(segment: Segment, attributes: Set[Int]): Array[Boolean] = {
    import segment.forest.{nodes, predicates}
    val found = new Array[Boolean](nodes.size)
    found.indices.foreach { node =>
      val p = nodes.predicates(node)
      found(node) =
        if (p >= 0) attributes(predicates.attributes(p)) && Ranges(predicates.operators(p))
        else nodes.children(node).exists(found(_))
    }
    found
  }

  private def isBetween(parsed: Expression, names: Set[Seq[String]]): Boolean = parsed.exists {
    case f: UnresolvedFunction if f.nameParts.map(_.toLowerCase) == Seq("between") => f.arguments.headOption match {
        case Some(value: UnresolvedAttribute) => names(value.nameParts)
        case _ => false
      }
    case _ => false
  }
}
