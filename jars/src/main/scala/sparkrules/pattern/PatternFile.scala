package sparkrules.pattern

import com.fasterxml.jackson.databind.ObjectMapper
import com.fasterxml.jackson.databind.node.ArrayNode

import sparkrules.store.{Manifest, Store}

/** The file of a version's patterns. */
object PatternFile {

  /** The patterns of a version, in the order in which they were defined. */
  def read(store: Store, manifest: Manifest): Seq[Pattern] = manifest.patterns.fold(Seq.empty[Pattern]) { file =>
    store.naming(store.pathOf(manifest.ruleSet, file))(Pattern.read(store.content(manifest.ruleSet, file)))
  }

  /** The content of the file without the patterns that are options of some rules: as JSON, and how many are left. */
  def withoutOptions(store: Store, manifest: Manifest, rules: Set[String]): Option[(Array[Byte], Int)] = {
    val options = read(store, manifest).filter(pattern => pattern.belongsToRule && rules(pattern.id)).map(_.id).toSet
    manifest.patterns.filter(_ => options.nonEmpty).map { file =>
      val json = mapper.readTree(store.content(manifest.ruleSet, file))
      val patterns = json.path("patterns").asInstanceOf[ArrayNode]
      val each = patterns.elements
      while (each.hasNext) if (options(each.next().path("id").asText)) each.remove()
      (mapper.writerWithDefaultPrettyPrinter.writeValueAsBytes(json), patterns.size)
    }
  }

  private val mapper = new ObjectMapper
}
