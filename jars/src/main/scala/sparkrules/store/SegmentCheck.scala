package sparkrules.store

/**
 * Checks that a segment is consistent: every number refers to something that exists, and children come before their
 * parents. The files of a store can come from anywhere. Nobody has to check a segment again.
 */
object SegmentCheck {
  private val ConstantKinds = Set("null", "boolean", "integer", "decimal", "double", "string", "sql")
  private val NodeKinds = Set(StoredNodes.Predicate, "and", "or")
  private val Alone = Set("is null", "is not null", "is true", "is false", "is not true", "is not false")
  private val Comparisons = Set("=", "<", "<=", ">", ">=", "<>", "<=>", "not <=>")
  private val Texts = Set("like", "ilike", "rlike", "contains", "startswith", "endswith", "in network", "in list")

  /** The first table with a fault, and the fault. */
  def fault(segment: Segment): Option[(String, String)] = {
    val forest = segment.forest
    val (constants, predicates, nodes) = (forest.constants, forest.predicates, forest.nodes)
    val checks = Iterator[(String, () => Option[String])](
      "attributes" -> (() => noText(forest.attributes)),
      "constants" -> (() =>
        noText(constants.texts).orElse(unknown(constants.kinds, ConstantKinds)).orElse(first(constants.size) { c =>
          if (isConstant(constants.kinds(c), constants.texts(c))) None
          else Some(s"'${constants.texts(c)}' is not of kind ${constants.kinds(c)}")
        })),
      "predicates" -> (() =>
        outside(predicates.attributes, forest.attributes.length, "attribute")
          .orElse(outside(predicates.constants.values, constants.size, "constant"))
          .orElse(first(predicates.size)(p => operatorFault(predicates.operators(p), predicates.constants.length(p))))),
      "nodes" -> (() =>
        unknown(nodes.operators, NodeKinds).orElse(first(nodes.size) { n =>
          val isPredicate = nodes.operators(n) == StoredNodes.Predicate
          if (isPredicate) outside(nodes.predicates, predicates.size, "predicate", n, n + 1)
          else outside(nodes.children.values, n, "child before it", nodes.children.start(n), nodes.children.end(n))
        })),
      "subscriptions" -> (() =>
        outside(segment.rules.nodes, nodes.size, "node")
          .orElse(first(segment.rules.size)(i => if (segment.rules.ids(i) == null) Some("no id") else None))),
      "functions" -> (() => noText(segment.functions)))
    checks.flatMap { case (table, check) => check().map(table -> _) }.nextOption()
  }

  /** Whether the text fits the kind. Spark parses the other kinds, and reports their errors itself. */
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

  private def first(rows: Int)(fault: Int => Option[String]): Option[String] = {
    var (row, found) = (0, Option.empty[String])
    while (row < rows && found.isEmpty) { found = fault(row); row += 1 }
    found.map(text => s"row ${row - 1}: $text")
  }

  private def outside(numbers: Array[Int], count: Int, what: String): Option[String] =
    outside(numbers, count, what, 0, numbers.length)

  private def outside(numbers: Array[Int], count: Int, what: String, from: Int, until: Int): Option[String] = {
    var i = from
    while (i < until && numbers(i) >= 0 && numbers(i) < count) i += 1
    if (i == until) None else Some(s"there is no $what ${numbers(i)}")
  }

  /** Equal texts in succession are the same object. */
  private def unknown(texts: Array[String], known: Set[String]): Option[String] = {
    var i = 0
    while (i < texts.length && (i > 0 && (texts(i) eq texts(i - 1)) || known(texts(i)))) i += 1
    if (i == texts.length) None else Some(s"'${texts(i)}' is unknown")
  }

  private def noText(texts: Array[String]): Option[String] =
    if (texts.contains(null)) Some("a text is NULL") else None
}
