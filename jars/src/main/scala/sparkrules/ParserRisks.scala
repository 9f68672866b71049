package sparkrules

import scala.util.matching.Regex

/**
 * Texts that Spark's parser does more with than to read them. It computes the patterns of LIKE ANY and LIKE ALL where they
 * are constant, and writes out the digits of decimals with an exponent: `1E900000000BD` has 900 million.
 */
object ParserRisks {
  private val Quoted = """(?s)'(?:[^'\\]|\\.)*+'|"(?:[^"\\]|\\.)*+"|`[^`]*+`""".r
  private val PatternList = """(?is)\blike\s+(?:any|all|some)\s*\(""".r
  private val PatternTest = """(?i)\b(?:rlike|regexp|like|ilike)\b""".r
  private val Exponent = """(?i)\de[+-]?\d{4,}bd""".r

  /** Why the text should not be parsed, if so. */
  def of(sql: String): Option[Problem] =
    if (!mayMatter(sql)) None
    else {
      val bare = Quoted.replaceAllIn(sql, "''")
      if (Exponent.findFirstIn(bare).isDefined) Some(Problem("it has a number with more digits than a DECIMAL can have"))
      else if (PatternList.findAllMatchIn(bare).exists(list => PatternTest.findFirstIn(inBrackets(bare, list)).isDefined)) {
        Some(Problem("a pattern of LIKE ANY or LIKE ALL tests a pattern itself"))
      } else None
    }

  // Most texts have none of it: a look without a copy.
  private def mayMatter(sql: String): Boolean =
    PatternList.findFirstIn(sql).isDefined || Exponent.findFirstIn(sql).isDefined

  private def inBrackets(sql: String, list: Regex.Match): String = {
    var (at, open) = (list.end, 1)
    while (at < sql.length && open > 0) {
      if (sql.charAt(at) == '(') open += 1 else if (sql.charAt(at) == ')') open -= 1
      at += 1
    }
    sql.substring(list.end, at)
  }
}
