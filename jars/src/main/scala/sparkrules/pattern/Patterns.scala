package sparkrules.pattern

/** The patterns of a version, by what the keys of their rows begin with. */
final case class Patterns(all: Seq[Pattern]) {
  @transient private lazy val byKey = all.map(pattern => (pattern.id, pattern.fingerprint) -> pattern).toMap

  /** The pattern of a key; none if the version has no such pattern any more. */
  def of(key: PatternKey): Option[Pattern] = byKey.get((key.id, key.fingerprint))

  override def toString: String = if (all.length == 1) "1 pattern" else s"${all.length} patterns"
}
