package sparkrules.catalog

import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

import sparkrules.lists.StoredList
import sparkrules.store.Store

/** The reference lists of a rule set as they are now, each with its number. */
final case class Lists(store: String, ruleSet: String, numbers: Seq[(String, Long)])
    extends LocalTable("lists", Lists.Columns) {

  override def rows(store: Store): Seq[String => Any] = numbers.flatMap { case (name, number) =>
    StoredList.read(store, ruleSet, name, number).map(row)
  }

  private def row(list: StoredList): String => Any = {
    case "name" => UTF8String.fromString(list.name)
    case "kind" => UTF8String.fromString(list.kind)
    case "number" => list.number
    case "values" => list.count
    case "created" => list.created
    case "publisher" => UTF8String.fromString(list.publisher)
  }
}

object Lists {
  def of(root: String, store: Store, ruleSet: String): Lists =
    Lists(root, ruleSet, StoredList.newest(store, ruleSet))

  private val Columns = Seq(
    ColumnOf("name", StringType, "name of the list", nullable = false),
    ColumnOf("kind", StringType, "values, cidr or glob", nullable = false),
    ColumnOf("number", LongType, "number of its version", nullable = false),
    ColumnOf("values", LongType, "how many values it has", nullable = false),
    ColumnOf("created", TimestampType, "when it was put", nullable = false),
    ColumnOf("publisher", StringType, "who put it: user and machine", nullable = false))
}
