package sparkrules.conf

import java.util.regex.Pattern

/** Names of rule sets, in which `*` stands for anything: those that may be used. */
final case class AllowedRuleSets(patterns: Seq[String]) {
  private val compiled = patterns.map(_.split("\\*", -1).map(Pattern.quote).mkString(".*").r)

  def apply(name: String): Boolean = compiled.exists(_.matches(name))
  override def toString: String = patterns.mkString(", ")
}

object AllowedRuleSets {
  val All: AllowedRuleSets = AllowedRuleSets(Seq("*"))

  /** Separated by commas; none: all are allowed. */
  def of(text: String): AllowedRuleSets =
    if (text.isBlank) All else AllowedRuleSets(text.split(",").toSeq.map(_.trim).filter(_.nonEmpty))
}
