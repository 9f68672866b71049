package sparkrules.pattern

import sparkrules.store.{Manifest, Store}

/** The file of a version's patterns. */
object PatternFile {

  /** The patterns of a version, in the order in which they were defined. */
  def read(store: Store, manifest: Manifest): Seq[Pattern] = manifest.patterns.fold(Seq.empty[Pattern]) { file =>
    store.naming(store.pathOf(manifest.ruleSet, file))(Pattern.read(store.content(manifest.ruleSet, file)))
  }
}
