package sparkrules.store

import java.nio.ByteBuffer
import java.nio.charset.StandardCharsets.{US_ASCII, UTF_8}
import java.security.MessageDigest
import java.util.HexFormat
import java.util.zip.CRC32
import javax.crypto.Mac
import javax.crypto.spec.SecretKeySpec

import org.apache.hadoop.fs.Path

/** The tickets that a caller presents: secrets of the owners of rules. The store has only keyed hashes of them. */
final class Tickets(store: Store, ruleSet: String, secrets: Seq[String]) {
  private val file = new Path(store.path, s"$ruleSet/tickets.key")

  // Always computed, so that a bad key is an error whatever the caller removes.
  private val hashes: Seq[Array[Byte]] =
    if (secrets.isEmpty) Nil
    else {
      val mac = Mac.getInstance(Tickets.Algorithm)
      mac.init(store.naming(file, "restore the key, or publish")(key(store.bytes(file))))
      secrets.map(secret => HexFormat.of.formatHex(mac.doFinal(secret.getBytes(UTF_8))).getBytes(US_ASCII))
    }

  /** Whether any rule can have a ticket. */
  def areGivenOut: Boolean = store.files.exists(file)

  /** Whether one of the secrets has this hash. */
  def matches(hash: String): Boolean = hashes.exists(MessageDigest.isEqual(_, hash.getBytes(UTF_8)))

  /** The key. A checksum of the rule set's name and the key follows it, unless an older sparkrules has made it. */
  private def key(content: Array[Byte]): SecretKeySpec = {
    val (secret, checksum) = content.splitAt(Tickets.KeyBytes)
    val crc = new CRC32
    crc.update(ruleSet.getBytes(UTF_8))
    crc.update(0)
    crc.update(secret)
    val expected = ByteBuffer.allocate(4).putInt(crc.getValue.toInt).array
    if (secret.length != Tickets.KeyBytes || !(checksum.isEmpty || checksum.sameElements(expected))) {
      throw new IllegalArgumentException("it is not the key of this rule set")
    }
    new SecretKeySpec(secret, Tickets.Algorithm)
  }
}

object Tickets {
  private val Algorithm = "HmacSHA256"
  private val KeyBytes = 32
}
