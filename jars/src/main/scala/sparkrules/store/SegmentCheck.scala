package sparkrules.store

/**
 * That a segment does not contradict itself, so that nobody who has one need check again: every number refers to
 * something that exists, and children come before their parents. The store's files may come from anywhere.
 */
object SegmentCheck {
  private val ConstantKinds = Set("null", "boolean", "integer", "decimal", "double", "string", "sql")
  private val NodeKinds = Set("predicate", "and", "or")
  private val Alone = Set("is null", "is not null", "is true", "is false", "is not true", "is not false")
  private val Comparisons = Set("=", "<", "<=", ">", ">=", "<>", "<=>", "not <=>")
  private val Texts = Set("like", "ilike", "rlike", "contains", "startswith", "endswith")

  /** The table that is wrong and what is wrong with it, if anything is. */
  def fault(s: Segment): Option[(String, String)] = {
    val (attributes, constants) = (s.attributes.length, s.constantKinds.length)
    val (predicates, nodes) = (s.predicateOperators.length, s.nodeOperators.length)
    val checks = Iterator[(String, () => Option[String])](
      "attributes" -> (() => noText(s.attributes)),
      "constants" -> (() => 
        noText(s.constantTexts).orElse(unknown(s.constantKinds, ConstantKinds)).orElse(first(constants) { c =>
          if (isConstant(s.constantKinds(c), s.constantTexts(c))) None
          else Some(s"'${s.constantTexts(c)}' is not of kind ${s.constantKinds(c)}")
        })),
      "predicates" -> (() =>
        outside(s.predicateAttributes, attributes, "attribute")
          .orElse(outside(s.predicateConstants.values, constants, "constant"))
          .orElse(first(predicates)(p => operatorFault(s.predicateOperators(p), s.predicateConstants.length(p))))),
      "nodes" -> (() =>
        unknown(s.nodeOperators, NodeKinds).orElse(first(nodes) { n =>
          if (s.nodeOperators(n) == "predicate") outside(Array(s.nodePredicates(n)), predicates, "predicate")
          else outside(s.nodeChildren(n), n, "child before it")
        })),
      "subscriptions" -> (() =>
        outside(s.ruleNodes, nodes, "node")
          .orElse(first(s.ruleIds.length)(i => if (s.ruleIds(i) == null) Some("no id") else None))),
      "functions" -> (() => noText(s.functions)))
    checks.flatMap { case (table, check) => check().map(table -> _) }.nextOption()
  }

  /** Whether a number looks like one. Spark reads the others as SQL, and complains if they are none. */
  private def isConstant(kind: String, text: String): Boolean = kind match {
    case "boolean" => text == "true" || text == "false"
    case "integer" =>
      val digits = if (text.startsWith("-")) 1 else 0
      text.length > digits && (digits until text.length).forall(i => text(i) >= '0' && text(i) <= '9')
    case _ => true
  }

  private def operatorFault(operator: String, constants: Int): Option[String] = {
    val wanted =
      if (operator == null) -1
      else if (Alone(operator)) 0
      else if (Comparisons(operator) || Texts(operator.stripPrefix("not "))) 1
      else if (operator == "in" || operator == "not in") constants
      else -1
    if (wanted == constants) None else Some(s"operator '$operator' with $constants constants")
  }

  private def first(rows: Int)(fault: Int => Option[String]): Option[String] =
    Iterator.range(0, rows).flatMap(row => fault(row).map(rejection => s"row $row: $rejection")).nextOption()

  private def outside(numbers: Array[Int], count: Int, what: String): Option[String] = {
    var i = 0
    while (i < numbers.length && numbers(i) >= 0 && numbers(i) < count) i += 1
    if (i == numbers.length) None else Some(s"there is no $what ${numbers(i)}")
  }

  private def unknown(texts: Array[String], known: Set[String]): Option[String] =
    texts.find(!known(_)).map(text => s"'$text' is unknown")

  private def noText(texts: Array[String]): Option[String] =
    if (texts.contains(null)) Some("a text is NULL") else None
}
