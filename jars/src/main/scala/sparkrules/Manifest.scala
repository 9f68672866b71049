package sparkrules

import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}

/** A segment as a version has it: `removed` names the file of the subscriptions that it no longer has. */
final case class SegmentEntry(name: String, subscriptions: Int, removed: Option[String])

/** Which segments a version of a rule set is made of. */
final case class Manifest(segments: Seq[SegmentEntry]) {

  /** How many subscriptions lie in the segments, those that are gone included. */
  def subscriptions: Long = segments.map(_.subscriptions.toLong).sum
}

object Manifest {
  val Format = 2

  /** @param checked the name itself if it is one: it becomes a part of a path */
  def parse(json: Array[Byte], file: String, checked: String => String): Manifest = {
    val manifest = new ObjectMapper().readTree(json)
    val (format, segments) = (manifest.path("format"), manifest.path("segments"))
    if (format.isInt && format.asInt != Format) {
      throw new RulesException(
        s"$file has format $format; this version of sparkrules reads format $Format. Upgrade the older side.")
    }
    if (!format.isInt || !segments.isArray) throw new IllegalArgumentException("it is not a manifest")
    Manifest(Seq.tabulate(segments.size)(i => entry(segments.get(i), checked)))
  }

  private def entry(segment: JsonNode, checked: String => String): SegmentEntry = {
    val removed = segment.path("removed")
    if (!(removed.isMissingNode || removed.isNull || removed.isTextual)) {
      throw new IllegalArgumentException(s"'$removed' is not the name of a file")
    }
    SegmentEntry(
      checked(segment.path("name").asText),
      segment.path("subscriptions").asInt(0),
      if (removed.isTextual) Some(checked(removed.asText)) else None)
  }
}
