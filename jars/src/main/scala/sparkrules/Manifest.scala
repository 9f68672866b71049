package sparkrules

import java.time.{Instant, OffsetDateTime}
import java.time.temporal.ChronoUnit

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}
import com.fasterxml.jackson.databind.node.ObjectNode

/**
 * A segment as a version has it: `removed` names the file of the subscriptions that it no longer has, `overlaps` that of
 * the pairs of advertisements and subscriptions that overlap, if that has been found out.
 */
final case class SegmentEntry(
    name: String, subscriptions: Int, removed: Option[String], live: Int, overlaps: Option[String])

/** One version of a rule set, as docs/store-format.md says. What it has beyond that is carried over to new versions. */
final class Manifest private (json: ObjectNode, val ruleSet: String, val version: Long) {
  val publisher: String = text("publisher")
  val action: String = text("action")
  val parent: Option[Long] = optional("parent")(_ => number("parent"))
  val segments: Seq[SegmentEntry] = field("segments").elements.asScala.toSeq.map(Manifest.entry)
  val rejected: Option[String] = optional("rejected")(_.asText)
  /** The segment of the advertisements. */
  val advertisements: Option[String] = Manifest.name(json, "advertisements")
  val defaultValidity: Option[Long] = optional("default_validity")(_ => number("default_validity"))
  val (subscriptions, predicates, nodes) = (number("subscriptions"), number("predicates"), number("nodes"))

  /** When it was made, in microseconds since 1970. */
  val created: Long = ChronoUnit.MICROS.between(Instant.EPOCH, OffsetDateTime.parse(text("created")).toInstant)

  /** This content as a version that is yet to be made. */
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
  private def optional[T](name: String)(read: JsonNode => T): Option[T] = Option(field(name)).filterNot(_.isNull).map(read)
}

object Manifest {
  val Format = 2

  private val Seconds = java.time.format.DateTimeFormatter.ofPattern("yyyy-MM-dd'T'HH:mm:ssxxx")
  private val mapper = new ObjectMapper()

  def read(store: Store, ruleSet: String, number: Long): Manifest = {
    val file = store.manifestPath(Version(store.path.toString, ruleSet, number))
    store.naming(file) {
      mapper.readTree(store.bytes(file)) match {
        case json: ObjectNode =>
          val format = json.path("format")
          if (format.isInt && format.asInt != Format) {
            throw new RulesException(
              s"$file has format $format; this version of sparkrules reads format ${Format}. Upgrade the older side.")
          }
          if (!format.isInt) throw new IllegalArgumentException("it is not a manifest")
          val read = new Manifest(json, ruleSet, number)
          read.segments.foreach(entry => (Seq(entry.name) ++ entry.removed ++ entry.overlaps).foreach(store.checked))
          (read.rejected ++ read.advertisements).foreach(store.checked)
          read
        case _ => throw new IllegalArgumentException("it is not a manifest")
      }
    }
  }

  def newest(store: Store, ruleSet: String): Manifest = read(store, ruleSet, store.newest(store.checked(ruleSet)))

  def bytes(json: ObjectNode): Array[Byte] =
    (mapper.writerWithDefaultPrettyPrinter.writeValueAsString(json) + "\n").getBytes("UTF-8")

  private def entry(json: JsonNode): SegmentEntry =
    SegmentEntry(
      field(json, "name").asText,
      Math.toIntExact(number(json, "subscriptions")),
      Option(field(json, "removed")).filterNot(_.isNull).map(_.asText),
      Math.toIntExact(number(json, "live")),
      name(json, "overlaps"))

  /** The name of something that need not be there. */
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
