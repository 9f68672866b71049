package sparkrules.catalog

/** A predicate as readable Spark SQL. */
object PredicateText {
  private val Functions = Set("contains", "startswith", "endswith")

  /** {{{PredicateText("a + b", "not in", Seq("1", "NULL")) == "(a + b) NOT IN (1, NULL)"}}} */
  def apply(attribute: String, operator: String, constants: Seq[String]): String = {
    val positive = operator.stripPrefix("not ")
    val not = if (positive == operator) "" else "NOT "
    val tested = if (attribute.matches("[\\w.`]+")) attribute else s"($attribute)"
    positive match {
      case function if Functions(function) => s"$not$function($attribute, ${constants.mkString(", ")})"
      case "in network" => s"${not}cidr_contains(${constants.mkString(", ")}, $attribute)"
      case "in list" => s"${not}in_list(${constants.mkString(", ")}, $attribute)"
      case "<=>" if not.nonEmpty => s"NOT ($tested <=> ${constants.mkString(", ")})"
      case "in" if constants.isEmpty => if (not.isEmpty) "false" else "true"
      case "in" => s"$tested ${not}IN (${constants.mkString(", ")})"
      case _ => (tested +: operator.toUpperCase +: constants).mkString(" ")
    }
  }

  /** A constant as SQL, given its kind and text of docs/store-format.md. */
  def constant(kind: String, text: String): String = kind match {
    case "null" => "NULL"
    case "string" => "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
    case "double" => text + "D"
    case "decimal" if text.exists(c => c == 'e' || c == 'E') => text + "BD"
    case "sql" => s"($text)"
    case _ => text
  }
}
