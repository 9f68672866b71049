package sparkrules.catalog

import java.nio.charset.StandardCharsets.{US_ASCII, UTF_8}
import java.security.MessageDigest
import java.util.HexFormat
import javax.crypto.Mac
import javax.crypto.spec.SecretKeySpec

import org.apache.hadoop.fs.Path

import sparkrules.{RulesException, Store}

/** The secrets that owners of subscriptions were given. The store has only keyed hashes of them. */
final class Tickets(store: Store, ruleSet: String) {
  private lazy val key: SecretKeySpec = {
    val file = new Path(store.path, s"$ruleSet/tickets.key")
    store.naming(file)(new SecretKeySpec(store.bytes(file), Tickets.Algorithm))
  }

  /** An error unless `ticket` is the one whose hash was stored with the subscription. */
  def check(id: String, hash: String, ticket: Option[String]): Unit = ticket match {
    case None =>
      throw new RulesException(
        s"Subscription '$id' of '$ruleSet' has a ticket: only who has it may remove the subscription. " +
          s"CALL ${RuleCatalog.Name}.unsubscribe('$ruleSet', '$id', ticket => '...')")
    case Some(secret) =>
      if (!MessageDigest.isEqual(hashOf(secret).getBytes(US_ASCII), hash.getBytes(UTF_8))) {
        throw new RulesException(s"The ticket is not that of subscription '$id' of '$ruleSet'.")
      }
  }

  private def hashOf(ticket: String): String = {
    val mac = Mac.getInstance(Tickets.Algorithm)
    mac.init(key)
    HexFormat.of.formatHex(mac.doFinal(ticket.getBytes(UTF_8)))
  }
}

object Tickets {
  private val Algorithm = "HmacSHA256"
}
