package sparkrules

import java.util.Locale

import org.antlr.v4.runtime.{CharStreams, Token}

import org.apache.spark.sql.catalyst.parser.SqlBaseLexer

/**
 * The list of `LIKE ANY ('a%', 'b%')`, which Spark evaluates while it parses, if it is constant. Operators are among what
 * it evaluates there, `'aaa' RLIKE '(a*)*b'` as well, and nothing bounds them yet. A list of patterns has no use for a
 * test, so a text with one is not parsed.
 */
object PatternList {

  def problem(sql: String): Option[String] =
    if (Candidate.findFirstIn(sql).isDefined && hasTest(sql)) {
      Some("it has a LIKE or RLIKE inside of the list of LIKE ANY or LIKE ALL; write the patterns themselves")
    } else None

  private val Candidate = "(?is)\\blike\\b.*\\b(?:any|some|all)\\b.*\\b(?:r?like|ilike|regexp)\\b".r

  private def hasTest(sql: String): Boolean = {
    // The lexer wants keywords in upper case; what it makes of names and texts is not looked at.
    val lexer = new SqlBaseLexer(CharStreams.fromString(sql.toUpperCase(Locale.ROOT)))
    lexer.removeErrorListeners()
    val kinds = Iterator.continually(lexer.nextToken()).takeWhile(_.getType != Token.EOF)
      .filter(_.getChannel == Token.DEFAULT_CHANNEL).map(_.getType).toArray
    kinds.indices.exists { i =>
      Likes(kinds(i)) && i + 2 < kinds.length && Quantifiers(kinds(i + 1)) && kinds(i + 2) == SqlBaseLexer.LEFT_PAREN &&
      kinds.slice(i + 3, closing(kinds, i + 2)).exists(kind => Likes(kind) || kind == SqlBaseLexer.RLIKE)
    }
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

  private val Likes = Set(SqlBaseLexer.LIKE, SqlBaseLexer.ILIKE)
  private val Quantifiers = Set(SqlBaseLexer.ANY, SqlBaseLexer.SOME, SqlBaseLexer.ALL)
}
