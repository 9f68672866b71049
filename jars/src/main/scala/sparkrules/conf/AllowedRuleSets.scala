package sparkrules.conf

import java.util.regex.Pattern

/** The rule sets that may be used: names in which `*` stands for any characters. */
final case class AllowedRuleSets(patterns: Seq[String]) {
  private val compiled = patterns.map(_.split("\\*", -1).map(Pattern.quote).mkString(".*").r)

  def apply(name: String): Boolean = compiled.exists(_.matches(name))
  override def toString: String = patterns.mkString(", ")
}

object AllowedRuleSets {
  val All: AllowedRuleSets = AllowedRuleSets(Seq("*"))

  /** Reads names that are separated by commas. No names allow all rule sets. */
  def of(text: String): AllowedRuleSets =
    if (text.isBlank) All else AllowedRuleSets(text.split(",").toSeq.map(_.trim).filter(_.nonEmpty))
}
