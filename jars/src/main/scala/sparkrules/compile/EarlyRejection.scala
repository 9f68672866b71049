package sparkrules.compile

/**
 * Where every alternative needs something of one slot, a row that has none of the values needed is rejected after one
 * predicate: its value lies in the zero-subdomain D0 of Hinze and Bittner's "Efficient Distribution-Based Event
 * Filtering", the values that no rule names.
 */
private object EarlyRejection {

  // The predicate is tested for every row, so it has to reject many of them.
  private val MostPassing = 0.5

  /** The predicate that is true wherever an alternative is, if there is one that rejects enough rows. */
  def of(terms: Terms, alternatives: Alternatives): Option[Int] = {
    import terms.costs.{expense, predicates}
    def own(a: Int): Iterator[Int] =
      Iterator.range(alternatives.starts(a), alternatives.ends(a)).map(alternatives.terms(_)).filter(_ >= 0)
    def slots(a: Int): Set[Int] = own(a).map(predicates.slot).filter(expense(_) == 0).toSet
    var common = if (alternatives.size < 2) Set.empty[Int] else slots(0)
    var a = 1
    while (a < alternatives.size && common.nonEmpty) {
      common = common.filter(slot => own(a).exists(predicates.slot(_) == slot))
      a += 1
    }
    common.toSeq.sorted.map { slot =>
      val needed = Iterator.range(0, alternatives.size).flatMap(own(_).filter(predicates.slot(_) == slot))
      predicates.any(needed.distinct.toSeq)
    }.filter(predicates.chance(_) < MostPassing).minByOption(predicates.chance)
  }
}
