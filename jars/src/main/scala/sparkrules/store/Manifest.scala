package sparkrules.store

import java.time.{Instant, OffsetDateTime}
import java.time.temporal.ChronoUnit

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.{DeserializationFeature, JsonNode, ObjectMapper}
import com.fasterxml.jackson.databind.node.ObjectNode

import sparkrules.conf.RulesException

/**
 * A segment of a version.
 *
 * @param removed the name of the file of the rules that the version no longer has
 * @param live how many rules the version still has
 * @param overlaps the name of the file of the pairs of overlapping advertisements and rules, if they have been computed
 * @param sums the checksums of its files by path, if the version has checksums
 */
final case class SegmentEntry(
    name: String,
    subscriptions: Int,
    removed: Option[String],
    live: Int,
    overlaps: Option[String],
    sums: Map[String, FileSum] = Map.empty) {

  /** The file of a table of the segment. */
  def file(table: String): PublishedFile = published(s"segments/$name/$table.arrow")
  def removedFile: Option[PublishedFile] = removed.map(name => published(s"removed/$name.arrow"))
  def overlapsFile: Option[PublishedFile] = overlaps.map(name => published(s"overlaps/$name.arrow"))

  def files: Seq[PublishedFile] = SegmentEntry.Tables.map(file) ++ removedFile ++ overlapsFile

  /** With the checksums of its files, out of all of a version. */
  def withSums(all: Map[String, FileSum]): SegmentEntry =
    copy(sums = files.flatMap(file => all.get(file.path).map(file.path -> _)).toMap)

  private def published(path: String) = PublishedFile(path, sums.get(path))
}

object SegmentEntry {
  private val Tables = Seq("attributes", "constants", "predicates", "nodes", "subscriptions", "functions")

  /** A segment that has none of the version's rules. */
  def alone(name: String, sums: Map[String, FileSum]): SegmentEntry =
    SegmentEntry(name, subscriptions = 0, removed = None, live = 0, overlaps = None).withSums(sums)
}

/** A version of a rule set; see docs/store-format.md. New versions keep fields that are not described there. */
final class Manifest private (json: ObjectNode, val ruleSet: String, val version: Long) {
  val publisher: String = text("publisher")
  val action: String = text("action")
  val parent: Option[Long] = optional("parent")(_ => number("parent"))
  private val sums = Manifest.sums(json)
  /** Whether its files have checksums: not if an older sparkrules has made it. */
  val isVerified: Boolean = json.path("format").asInt > Manifest.Unverified
  val segments: Seq[SegmentEntry] = field("segments").elements.asScala.toSeq.map(Manifest.entry(_, sums))
  val rejected: Option[PublishedFile] = Manifest.name(json, "rejected").map { name =>
    PublishedFile(s"rejected/$name.arrow", sums.get(s"rejected/$name.arrow"))
  }
  /** The segment of the advertisements. */
  val advertisements: Option[SegmentEntry] = Manifest.name(json, "advertisements").map(SegmentEntry.alone(_, sums))
  /** The file of the patterns over several rows. */
  val patterns: Option[PublishedFile] = Manifest.name(json, "patterns").map { name =>
    PublishedFile(s"patterns/$name.json", sums.get(s"patterns/$name.json"))
  }
  /** The segment of the conditions that patterns have of their own. */
  val conditions: Option[SegmentEntry] = Manifest.name(json, "conditions").map(SegmentEntry.alone(_, sums))
  val defaultValidity: Option[Long] = optional("default_validity")(_ => number("default_validity"))
  /** Whether its rules have been pruned: they may match more rows than the rules they were made from, never fewer. */
  val isGeneral: Boolean = json.path("general").asBoolean(false)
  /** What calls of functions cost, as users say: microseconds by name, lower case. */
  val costs: Map[String, Double] = Manifest.costs(json)
  /** How many calls of Python functions a query may make, if that is limited. */
  val maxCalls: Option[Long] = Option.when(json.has("max_calls") && !field("max_calls").isNull)(number("max_calls"))
  val (subscriptions, predicates, nodes) = (number("subscriptions"), number("predicates"), number("nodes"))

  /** When it was made, in microseconds since 1970. */
  val created: Long = ChronoUnit.MICROS.between(Instant.EPOCH, OffsetDateTime.parse(text("created")).toInstant)

  /** All files that the version refers to. */
  def files: Seq[PublishedFile] =
    (segments ++ advertisements ++ conditions).flatMap(_.files) ++ rejected ++ patterns

  /** The manifest of a new version with this content, without checksums: [[Manifest.summed]] adds them. */
  def next(parent: Long, action: String, publisher: String, segments: Seq[SegmentEntry] = segments): ObjectNode = {
    val next = json.deepCopy()
    next.put("rule_set", ruleSet).put("created", OffsetDateTime.now(java.time.ZoneOffset.UTC).format(Manifest.Seconds))
    next.put("publisher", publisher).put("action", action).put("parent", parent)
    next.put("subscriptions", segments.map(_.live.toLong).sum)
    val entries = next.putArray("segments")
    segments.foreach { entry =>
      entries.addObject().put("name", entry.name).put("subscriptions", entry.subscriptions)
        .put("removed", entry.removed.orNull).put("live", entry.live)
        .put("overlaps", entry.overlaps.orNull)
    }
    next
  }

  private def field(name: String): JsonNode = Manifest.field(json, name)
  private def text(name: String): String = field(name).asText
  private def number(name: String): Long = Manifest.number(json, name)
  private def optional[T](name: String)(read: JsonNode => T): Option[T] =
    Option(field(name)).filterNot(_.isNull).map(read)
}

object Manifest {
  val Format = 3

  /** The format of versions with patterns, which an older sparkrules would not see. */
  val WithPatterns = 4

  /** The format of versions whose rules have a status or tags: their segments have columns for these. */
  val Extended = 5

  /** The earlier format, without checksums. */
  val Unverified = 2

  private val Seconds = java.time.format.DateTimeFormatter.ofPattern("yyyy-MM-dd'T'HH:mm:ssxxx")
  private val mapper = new ObjectMapper().enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)

  def read(store: Store, ruleSet: String, number: Long): Manifest = {
    val file = store.manifestPath(Version(store.path.toString, ruleSet, number))
    store.naming(file) {
      val content = store.bytes(file)
      mapper.readTree(content) match {
        case json: ObjectNode =>
          val format = json.path("format")
          if (!format.isInt) throw new IllegalArgumentException("it is not a manifest")
          if (format.asInt < Unverified || format.asInt > Extended) {
            throw new RulesException(
              s"$file has format $format; this version of sparkrules reads the formats $Unverified to $Extended. " +
                "Upgrade the older side.")
          }
          // The earlier format has no checksum. A manifest with one must not pass for one of that format.
          if (format.asInt != Unverified || Checksum.isSealed(content)) Checksum.checkSeal(content)
          checked(store, json, new Manifest(json, ruleSet, number))
        case _ => throw new IllegalArgumentException("it is not a manifest")
      }
    }
  }

  /** Fails unless it is the manifest of this version, and has the checksums of all its files. */
  private def checked(store: Store, json: ObjectNode, read: Manifest): Manifest = {
    val (whose, number) = (field(json, "rule_set").asText, this.number(json, "version"))
    if (whose != read.ruleSet || number != read.version) {
      throw new IllegalArgumentException(
        s"it is the manifest of version $number of rule set '$whose', not of version ${read.version} of " +
          s"'${read.ruleSet}'")
    }
    read.files.foreach { file =>
      file.path.split("/", -1).filterNot(store.isName).foreach { name =>
        throw new IllegalArgumentException(s"'$name' is not the name of a file")
      }
      if (read.isVerified && file.sum.isEmpty) throw new IllegalArgumentException(s"it has no checksum of ${file.path}")
    }
    read
  }

  def newest(store: Store, ruleSet: String): Manifest = read(store, ruleSet, store.newest(store.checked(ruleSet)))

  /** A new manifest with the checksums of all its files: `sumOf` computes those that it lacks. */
  def summed(json: ObjectNode, sumOf: String => FileSum): ObjectNode = {
    val known = sums(json)
    // The segments are those of another version. If they have columns of a newer format, so has this version.
    val format = Math.max(json.path("format").asInt, if (name(json, "patterns").isDefined) WithPatterns else Format)
    val made = json.put("format", format).without[ObjectNode](java.util.List.of("files", "checksum"))
    val files = made.putObject("files")
    new Manifest(json, field(json, "rule_set").asText, 0).files.map(_.path).foreach { path =>
      val sum = known.getOrElse(path, sumOf(path))
      files.putObject(path).put("length", sum.length).put("crc32", sum.crc32)
    }
    made
  }

  def bytes(json: ObjectNode): Array[Byte] =
    Checksum.seal(mapper.writerWithDefaultPrettyPrinter.writeValueAsString(json))

  /** The checksums of a manifest by path; none in the earlier format. */
  private def sums(json: JsonNode): Map[String, FileSum] =
    json.path("files").properties.asScala.iterator.map(file => file.getKey -> FileSum.of(file.getValue)).toMap

  /** None in a manifest of an older sparkrules. */
  private def costs(json: JsonNode): Map[String, Double] =
    json.path("costs").properties.asScala.iterator.map { cost =>
      if (!cost.getValue.isNumber) throw new IllegalArgumentException(s"the cost of '${cost.getKey}' is not a number")
      cost.getKey -> cost.getValue.asDouble
    }.toMap

  private def entry(json: JsonNode, sums: Map[String, FileSum]): SegmentEntry =
    SegmentEntry(
      field(json, "name").asText,
      Math.toIntExact(number(json, "subscriptions")),
      Option(field(json, "removed")).filterNot(_.isNull).map(_.asText),
      Math.toIntExact(number(json, "live")),
      name(json, "overlaps")).withSums(sums)

  /** The name of an optional file. */
  private def name(json: JsonNode, field: String): Option[String] =
    Option(json.get(field)).filterNot(_.isNull).map(_.asText)

  private def field(json: JsonNode, name: String): JsonNode =
    Option(json.get(name)).getOrElse(throw new IllegalArgumentException(s"it has no field '$name'"))

  private def number(json: JsonNode, name: String): Long = {
    val number = field(json, name)
    if (!number.isIntegralNumber) throw new IllegalArgumentException(s"'$name' is $number, not a whole number")
    number.asLong
  }
}
