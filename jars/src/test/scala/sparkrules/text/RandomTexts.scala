package sparkrules.text

import java.util.Random

import org.apache.spark.unsafe.types.UTF8String

/** Texts of few different characters, so that they often have something in common. */
object RandomTexts {
  private val Letters =
    Array("a", "b", "A", "B", "\u00e4", "\u212a", "k", "\ud83d\ude00", "\n", "\r", "\r\n", " ", "_", "1", "\u2028")
  private val Bytes = Array('a', 'b', 'A', 0, 0xc3, 0xa4, 0xff).map(_.toByte)

  def string(random: Random, most: Int): String =
    Seq.fill(random.nextInt(most + 1))(Letters(random.nextInt(if (random.nextBoolean) 4 else Letters.length))).mkString

  /** Bytes that need not be UTF-8. */
  def bytes(random: Random, most: Int): Array[Byte] =
    Array.fill(random.nextInt(most + 1))(Bytes(random.nextInt(if (random.nextBoolean) 2 else Bytes.length)))

  def text(random: Random, most: Int): UTF8String =
    if (random.nextInt(4) == 0) UTF8String.fromBytes(bytes(random, most))
    else UTF8String.fromString(string(random, most))
}
