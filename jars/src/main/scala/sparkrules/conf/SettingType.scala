package sparkrules.conf

/**
 * The type of a setting.
 *
 * @param takes the values it takes, for an error message
 * @param values the same, for the documentation
 */
sealed abstract class SettingType[T](val takes: String, val values: String) {

  /** The value that a string stands for; None if it is invalid. */
  def read(text: String): Option[T]
}

/** One of a few values, each of which has a name. */
final class Choice[T](named: (String, T)*)
    extends SettingType[T](
      named.map(_._1).sorted.mkString(" or "), named.map { case (name, _) => s"`$name`" }.mkString(", ")) {
  private val byName = named.toMap
  override def read(text: String): Option[T] = byName.get(text)
}

object YesOrNo extends SettingType[Boolean]("false or true", "`true`, `false`") {
  override def read(text: String): Option[Boolean] = text.toBooleanOption
}

/** @param unit what is counted */
final class Positive(unit: String) extends SettingType[Long]("a positive number", s"a number of $unit") {
  override def read(text: String): Option[Long] = text.toLongOption.filter(_ > 0)
}

/** @param unit what is counted */
final class NotNegative(unit: String) extends SettingType[Long]("a number, 0 or more", s"a number of $unit, or 0") {
  override def read(text: String): Option[Long] = text.toLongOption.filter(_ >= 0)
}

/** Any string. */
final class Text(described: String) extends SettingType[String](described, described) {
  override def read(text: String): Option[String] = Some(text)
}

/** Names of rule sets. */
object RuleSetPatterns
    extends SettingType[AllowedRuleSets](
      "names, separated by commas", "names, separated by commas, with `*` for anything: `alerts,fraud*`") {
  override def read(text: String): Option[AllowedRuleSets] = Some(AllowedRuleSets.of(text))
}
