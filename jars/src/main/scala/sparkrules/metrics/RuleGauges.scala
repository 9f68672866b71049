package sparkrules.metrics

import java.util.concurrent.ConcurrentHashMap

import scala.jdk.CollectionConverters._

import com.codahale.metrics.{Gauge, MetricRegistry}

/** The metrics of rules in Spark's metrics system: sums per rule set, and the matches and errors of some rules. */
private final class RuleGauges {
  val registry = new MetricRegistry
  private val values = new ConcurrentHashMap[String, java.lang.Long]

  /** Shows the sums, and the `most` rules of each rule set with most matches, errors and time each. */
  def show(totals: Seq[RuleSetTotals], most: Int): Unit = synchronized {
    val now = totals.flatMap { own =>
      val report = own.report(most)
      val set = RuleGauges.safe(own.ruleSet)
      val sums = Seq(
        "queries" -> own.runs, "version" -> own.version, "rows" -> report.rows, "matches" -> report.matches,
        "errors" -> report.errors, "rules" -> report.rules.toLong, "rulesHit" -> report.rulesHit.toLong)
      sums.map { case (name, value) => s"$set.$name" -> value } ++ report.counts.flatMap { count =>
        val rule = s"$set.rule.${RuleGauges.safe(count.id)}"
        Seq(s"$rule.hits" -> count.hits, s"$rule.errors" -> count.errors)
      }
    }.groupMapReduce(_._1)(_._2)(_ + _) // rule sets of one name, in different stores
    now.foreach { case (name, value) =>
      if (values.put(name, value) == null) registry.register(name, RuleGauges.gauge(values, name))
    }
    values.keySet.asScala.toSeq.filterNot(now.contains).foreach { name =>
      registry.remove(name)
      values.remove(name)
    }
  }
}

private object RuleGauges {
  private val Longest = 80

  private def gauge(values: ConcurrentHashMap[String, java.lang.Long], name: String): Gauge[java.lang.Long] =
    () => values.getOrDefault(name, 0L)

  /**
   * A name of letters, digits and `_`, which every sink takes as it is: other characters of the id are written as `_`
   * and their number, so that different ids have different names. Of a long id, the rest is a hash.
   */
  private[metrics] def safe(id: String): String = {
    val name = id.codePoints.toArray.map {
      case c if c < 128 && Character.isLetterOrDigit(c) => c.toChar.toString
      case c => f"_$c%x_"
    }.mkString
    if (name.length <= Longest) name
    else {
      val digest = java.security.MessageDigest.getInstance("SHA-256").digest(id.getBytes("UTF-8"))
      s"${name.take(Longest - 20)}__${digest.take(8).map(b => f"$b%02x").mkString}"
    }
  }
}
