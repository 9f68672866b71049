package sparkrules.store

import java.io.InputStream
import java.nio.charset.StandardCharsets.UTF_8
import java.util.zip.CRC32

import com.fasterxml.jackson.databind.JsonNode

/** The length of a file, and the CRC-32 of its blocks: hexadecimal numbers, one after the other. */
final case class FileSum(length: Long, crc32: String) {

  /** Fails unless this is the file's block of that number. */
  def check(block: Int, content: Array[Byte], from: Int, count: Int): Unit =
    if (crc32.regionMatches(block * 8, Checksum.of(content, from, count), 0, 8)) ()
    else throw new IllegalArgumentException("its checksum is not the one that was published")
}

object FileSum {
  def of(content: Array[Byte]): FileSum = {
    val blocks = Iterator.range(0, content.length, Checksum.Block)
    val sums = blocks.map(i => Checksum.of(content, i, Math.min(Checksum.Block, content.length - i)))
    FileSum(content.length.toLong, sums.mkString)
  }

  /** Reads a file to its end. */
  def of(in: InputStream): FileSum = {
    val sums = new StringBuilder
    val block = new Array[Byte](Checksum.Block)
    var (length, count) = (0L, in.readNBytes(block, 0, block.length))
    while (count > 0) {
      sums ++= Checksum.of(block, 0, count)
      length += count
      count = in.readNBytes(block, 0, block.length)
    }
    FileSum(length, sums.toString)
  }

  def of(json: JsonNode): FileSum = {
    val (length, crc32) = (json.path("length"), json.path("crc32"))
    val isLength = length.canConvertToLong && length.isIntegralNumber
    if (!isLength || !crc32.isTextual || !crc32.asText.matches("([0-9a-f]{8})*")) {
      throw new IllegalArgumentException(s"$json is not the checksum of a file")
    }
    FileSum(length.asLong, crc32.asText)
  }
}

/** The checksums of sparkrules/store/checksum.py: of the blocks of files, and at the end of JSON files. */
object Checksum {
  val Block: Int = 1 << 18

  def of(content: Array[Byte], from: Int, count: Int): String = {
    val crc = new CRC32
    crc.update(content, from, count)
    f"${crc.getValue}%08x"
  }

  /** The text of a JSON object with the field `checksum` at its end. */
  def seal(json: String): Array[Byte] = {
    val begin = (json.stripTrailing.stripSuffix("}").stripTrailing + ",\n  ").getBytes(UTF_8)
    begin ++ end(of(begin, 0, begin.length))
  }

  /** Whether a JSON file ends with a checksum, right or wrong. */
  def isSealed(content: Array[Byte]): Boolean =
    content.length >= EndLength &&
      new String(content.takeRight(EndLength), UTF_8).matches("\"checksum\": \"[0-9a-f]{8}\"\n\\}\n")

  /** Fails unless a JSON file ends with the checksum of what comes before. */
  def checkSeal(content: Array[Byte]): Unit = {
    val before = Math.max(content.length - EndLength, 0)
    if (!content.drop(before).sameElements(end(of(content, 0, before)))) {
      throw new IllegalArgumentException("its checksum does not match its content")
    }
  }

  private def end(checksum: String): Array[Byte] = s""""checksum": "$checksum"\n}\n""".getBytes(UTF_8)
  private val EndLength = end("00000000").length
}

/** A file of a rule set: its path below the rule set's directory, and its published checksum, if there is one. */
final case class PublishedFile(path: String, sum: Option[FileSum])
