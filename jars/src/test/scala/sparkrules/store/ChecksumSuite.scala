package sparkrules.store

import java.io.ByteArrayInputStream
import java.nio.charset.StandardCharsets.UTF_8
import java.util.Random

import com.fasterxml.jackson.databind.ObjectMapper

import sparkrules.Suite

/** Damage to a file is found wherever it is, and only if it is read. */
final class ChecksumSuite extends Suite {

  private def fails(read: => Any): Boolean =
    try { read; false }
    catch { case _: IllegalArgumentException => true }

  private def randomBytes(random: Random, length: Int): Array[Byte] = {
    val bytes = new Array[Byte](length)
    random.nextBytes(bytes)
    bytes
  }

  /** The same bytes with one of them changed. */
  private def damaged(random: Random, content: Array[Byte], at: Int): Array[Byte] = {
    val other = content.clone()
    other(at) = (other(at) ^ (1 << random.nextInt(8))).toByte
    other
  }

  test("a sealed JSON file is JSON, and no other byte may be in it") {
    val content = Checksum.seal("""{"name": "Größe", "numbers": [1, 2]}""")
    checkEqual(new ObjectMapper().readTree(content).path("numbers").get(1).asInt, 2, "what was sealed")
    check(Checksum.isSealed(content), "it is not taken for sealed")
    Checksum.checkSeal(content)
    cases(20) { random =>
      content.indices.foreach { at =>
        check(fails(Checksum.checkSeal(damaged(random, content, at))), s"byte $at may be another")
      }
    }
    content.indices.foreach(length =>
      check(fails(Checksum.checkSeal(content.take(length))), s"$length bytes are enough"))
    check(!Checksum.isSealed("{}\n".getBytes(UTF_8)), "a file without a seal is taken for sealed")
  }

  private val Lengths = Seq(0, 1, Checksum.Block - 1, Checksum.Block, Checksum.Block + 1, 2 * Checksum.Block + 7)

  test("a file has the same checksum from memory, from a stream and from JSON") {
    cases(5) { random =>
      Lengths.foreach { length =>
        val content = randomBytes(random, length)
        val sum = FileSum.of(content)
        checkEqual(FileSum.of(new ByteArrayInputStream(content)), sum, s"$length bytes from a stream")
        val json = s"""{"length": ${sum.length}, "crc32": "${sum.crc32}"}"""
        checkEqual(FileSum.of(new ObjectMapper().readTree(json)), sum, json)
      }
    }
  }

  test("what is no checksum is refused") {
    Seq("{}", """{"length": "1", "crc32": ""}""", """{"length": 1, "crc32": "xyz"}""",
      """{"length": 1.5, "crc32": ""}""")
      .foreach(json => check(fails(FileSum.of(new ObjectMapper().readTree(json))), json))
  }

  test("bytes are read as they are, or not at all if their block is damaged") {
    cases(40) { random =>
      val content = randomBytes(random, Suite.oneOf(random)(Lengths.tail: _*))
      val sum = FileSum.of(content)
      val at = random.nextInt(content.length)
      val isDamaged = random.nextBoolean
      val file = if (isDamaged) damaged(random, content, at) else content
      val bytes = new CheckedBytes(() => InMemoryInput(file), content.length.toLong, Some(sum))
      (0 until 20).foreach { _ =>
        val from = random.nextInt(content.length + 1)
        val until = if (random.nextInt(4) == 0) content.length else from + random.nextInt(content.length - from + 1)
        val first = from / Checksum.Block
        val last = (until - 1) / Checksum.Block
        val meetsDamage = isDamaged && until > from && at / Checksum.Block >= first && at / Checksum.Block <= last
        def read: Array[Byte] = bytes(from.toLong, until - from)
        if (meetsDamage) check(fails(read), s"$from until $until of ${content.length}, byte $at is wrong")
        else check(read.sameElements(content.slice(from, until)), s"$from until $until of ${content.length}")
      }
    }
  }

  test("a file that has become longer or shorter is refused") {
    val content = Array[Byte](1, 2, 3)
    def shorter = InMemoryInput(content.take(2))
    check(fails(new CheckedBytes(() => shorter, 2, Some(FileSum.of(content)))), "2 bytes instead of 3")
  }

  test("a stream that breaks is opened again, not forever") {
    val content = Array[Byte](1, 2, 3)
    def opening(broken: Int): () => org.apache.hadoop.fs.FSDataInputStream = {
      var opened = 0
      () => { opened += 1; InMemoryInput(if (opened <= broken) content.take(1) else content) }
    }
    val read = new CheckedBytes(opening(2), 3, Some(FileSum.of(content)))(0, 3)
    check(read.sameElements(content), read.mkString(" "))
    val always = scala.util.Try(new CheckedBytes(opening(9), 3, Some(FileSum.of(content)))(0, 3))
    check(always.isFailure, "it is always broken")
  }
}
