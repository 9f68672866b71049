package sparkrules.text

import org.apache.spark.unsafe.types.UTF8String

/** What RLIKE looks for, without what it need not look for. */
object Search {
  private val LeadingAnything = """^(\(\?[idmsuU]+\))?(?:\.\*)+(?![?+*{])""".r

  /**
   * `(?i).*(a|b)` -> `(?i)(a|b)`: RLIKE searches, so that `.*` in front finds the same texts. With it, Java tries every
   * end of `.*` from every start, which is quadratic in the length of a text that has no match.
   */
  def of(pattern: UTF8String): UTF8String =
    UTF8String.fromString(LeadingAnything.replaceFirstIn(pattern.toString, "$1"))
}
