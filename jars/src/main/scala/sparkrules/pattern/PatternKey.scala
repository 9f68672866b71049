package sparkrules.pattern

import java.nio.charset.StandardCharsets.UTF_8

import org.apache.spark.unsafe.types.UTF8String

/**
 * What the rows are grouped by: a pattern as it is defined now, and the values of its key, as one text. A pattern that
 * is changed gets other keys, and so starts afresh.
 */
final case class PatternKey(id: String, fingerprint: String, values: Seq[String])

object PatternKey {

  /** What the keys of a pattern begin with. */
  def of(pattern: Pattern): UTF8String =
    UTF8String.concat(part(UTF8String.fromString(pattern.id)), part(UTF8String.fromString(pattern.fingerprint)))

  /** A text after its length, so that several of them can be told apart. */
  def part(text: UTF8String): UTF8String = UTF8String.concat(UTF8String.fromString(s"${text.numBytes}:"), text)

  def read(text: String): PatternKey = {
    val bytes = text.getBytes(UTF_8)
    def parts(from: Int): List[String] =
      if (from >= bytes.length) Nil
      else {
        val colon = bytes.indexOf(':'.toByte, from)
        val end = colon + 1 + new String(bytes, from, colon - from, UTF_8).toInt
        new String(bytes, colon + 1, end - colon - 1, UTF_8) :: parts(end)
      }
    parts(0) match {
      case id :: fingerprint :: values => PatternKey(id, fingerprint, values)
      case _ => throw new IllegalArgumentException(s"'$text' is not the key of a pattern")
    }
  }
}
