package sparkrules.guard

import java.util.Locale

import org.antlr.v4.runtime.{CharStreams, Token}

import org.apache.spark.sql.catalyst.parser.SqlBaseLexer

/**
 * Rejects texts for which Spark's parser does more than to parse. It evaluates constant patterns of LIKE ANY and LIKE
 * ALL, without bounds, even if they contain searches themselves. And it writes out the digits of decimals with an
 * exponent: `1E900000000BD` has 900 million.
 */
object ParserRisks {
  // Most texts have none of this, and need no lexer.
  private val Candidate = """(?is)\b(?:any|some|all)\b.*\b(?:r?like|ilike|regexp)\b|e[+-]?\d{4,}bd""".r
  private val Exponent = """(?i).*e[+-]?\d{4,}bd""".r
  private val Likes = Set(SqlBaseLexer.LIKE, SqlBaseLexer.ILIKE)
  private val Quantifiers = Set(SqlBaseLexer.ANY, SqlBaseLexer.SOME, SqlBaseLexer.ALL)

  /** Why the text must not be parsed, if so. */
  def of(sql: String): Option[Rejection] =
    if (Candidate.findFirstIn(sql).isEmpty) None
    else {
      val tokens = tokensOf(sql)
      if (tokens.exists(t => t.getType == SqlBaseLexer.BIGDECIMAL_LITERAL && Exponent.matches(t.getText))) {
        Some(Rejection("it has a number with more digits than a DECIMAL can have"))
      } else if (hasTestInList(tokens.map(_.getType))) {
        Some(Rejection(
          "it has a LIKE or RLIKE inside the list of LIKE ANY or LIKE ALL; write the patterns themselves"))
      } else None
    }

  private def tokensOf(sql: String): Array[Token] = {
    // The lexer expects keywords in upper case. Names and strings do not matter here.
    val lexer = new SqlBaseLexer(CharStreams.fromString(sql.toUpperCase(Locale.ROOT)))
    lexer.removeErrorListeners()
    Iterator.continually(lexer.nextToken()).takeWhile(_.getType != Token.EOF)
      .filter(_.getChannel == Token.DEFAULT_CHANNEL).toArray
  }

  private def hasTestInList(kinds: Array[Int]): Boolean = kinds.indices.exists { i =>
    Likes(kinds(i)) && i + 2 < kinds.length && Quantifiers(kinds(i + 1)) && kinds(i + 2) == SqlBaseLexer.LEFT_PAREN &&
    kinds.slice(i + 3, closing(kinds, i + 2)).exists(kind => Likes(kind) || kind == SqlBaseLexer.RLIKE)
  }

  private def closing(kinds: Array[Int], open: Int): Int = {
    var depth = 1
    var at = open + 1
    while (at < kinds.length && depth > 0) {
      if (kinds(at) == SqlBaseLexer.LEFT_PAREN) depth += 1
      else if (kinds(at) == SqlBaseLexer.RIGHT_PAREN) depth -= 1
      at += 1
    }
    at
  }
}
