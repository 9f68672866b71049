package sparkrules.lists

import java.time.{Instant, OffsetDateTime}
import java.time.temporal.ChronoUnit

import com.fasterxml.jackson.databind.ObjectMapper
import org.apache.hadoop.fs.Path
import org.apache.spark.unsafe.types.UTF8String

import sparkrules.store.{Checksum, FileSum, PublishedFile, Store}

/** A version of a reference list; see docs/store-format.md. `created` is in microseconds since 1970. */
final case class StoredList(
    ruleSet: String,
    name: String,
    number: Long,
    kind: String,
    count: Long,
    created: Long,
    publisher: String,
    file: PublishedFile) {

  /** Its values, sorted and distinct. */
  def values(store: Store): Array[UTF8String] = store.values(ruleSet, file)
}

object StoredList {

  /** The number of a list as it is now; None if there is none. */
  def newest(store: Store, ruleSet: String, name: String): Option[Long] =
    if (!store.isName(name)) None
    else store.namesIn(s"$ruleSet/lists/$name").flatMap {
      case s"$number.json" => number.toLongOption
      case _ => None
    }.maxOption

  /** The names and numbers of all lists as they are now, and of those that were dropped. */
  def newest(store: Store, ruleSet: String): Seq[(String, Long)] =
    store.namesIn(s"$ruleSet/lists").sorted.flatMap(name => newest(store, ruleSet, name).map(name -> _))

  /** The version with a number; None if the list was dropped. */
  def read(store: Store, ruleSet: String, name: String, number: Long): Option[StoredList] = {
    val path = new Path(store.path, s"$ruleSet/lists/$name/$number.json")
    store.naming(path, "put the list of") {
      val content = store.bytes(path)
      Checksum.checkSeal(content)
      val json = new ObjectMapper().readTree(content)
      val (whose, list, own) =
        (json.path("rule_set").asText, json.path("list").asText, json.path("number").asLong)
      if (whose != ruleSet || list != name || own != number) {
        throw new IllegalArgumentException(s"it is of list '$list' $own of rule set '$whose'")
      }
      Option.when(json.hasNonNull("file")) {
        val file = json.path("file").asText
        if (!store.isName(file)) throw new IllegalArgumentException(s"'$file' is not the name of a file")
        val published = PublishedFile(s"lists/$name/$file", Some(FileSum.of(json)))
        val created = OffsetDateTime.parse(json.path("created").asText).toInstant
        StoredList(
          ruleSet,
          name,
          number,
          json.path("kind").asText,
          json.path("values").asLong,
          ChronoUnit.MICROS.between(Instant.EPOCH, created),
          json.path("publisher").asText,
          published)
      }
    }
  }
}
