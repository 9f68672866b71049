package sparkrules.bind

import scala.collection.mutable
import scala.util.control.NonFatal

import org.apache.spark.sql.catalyst.expressions.{Attribute, BoundReference, Expression, PrettyAttribute}
import org.apache.spark.sql.types.DataType

import sparkrules.guard.Metering

/** An input of a program that keeps its name in a task. A tag would not: Java does not serialise tags. */
final class NamedReference(ordinal: Int, dataType: DataType, nullable: Boolean, val name: String)
    extends BoundReference(ordinal, dataType, nullable) {
  override def sql: String = name
  override def clone(): Expression = this
  override def canEqual(other: Any): Boolean = other.isInstanceOf[NamedReference]
  override def hashCode: Int = super.hashCode
  override def equals(other: Any): Boolean = other match {
    case that: NamedReference => name == that.name && super.equals(that)
    case _ => false
  }
}

/** Slots as SQL: the names of attributes in statistics, whatever the version and its program. */
object SlotTexts {

  /** Names of the program's inputs. Columns have no qualifier, unless two then had the same name. */
  def namesOf(row: Seq[Attribute], columns: Seq[Int], extras: Seq[Expression]): IndexedSeq[String] = {
    val named = row.map(a => a -> (if (row.count(_.name == a.name) == 1) a.withQualifier(Nil).sql else a.sql))
    def plain(extra: Expression) = extra.transform {
      case a: Attribute => PrettyAttribute(named.collectFirst { case (`a`, name) => name }.getOrElse(a.sql), a.dataType)
    }
    (columns.map(named(_)._2) ++ extras.map(plain(_).sql)).toIndexedSeq
  }

  /** The expression, its inputs with their names. */
  def named(expression: Expression, names: IndexedSeq[String]): Expression = expression.transform {
    case BoundReference(i, dataType, nullable) => new NamedReference(i, dataType, nullable, names(i))
  }

  /** The texts of a program's slots, all different. `bases` as in [[Slot]]. */
  def of(expressions: Array[Expression], bases: Array[Int]): Array[String] = {
    val texts = new Array[String](expressions.length)
    val seen = mutable.HashMap.empty[String, Int]
    expressions.indices.foreach { slot =>
      val readable = expressions(slot).transformUp(Metering.unmetered.orElse {
        case input: BoundReference if bases(slot) >= 0 => PrettyAttribute(texts(bases(slot)), input.dataType)
      }: PartialFunction[Expression, Expression])
      val text = try readable.sql catch { case NonFatal(_) => readable.toString }
      val times = seen.updateWith(text)(n => Some(n.getOrElse(0) + 1)).get
      texts(slot) = if (times == 1) text else s"$text ($times)"
    }
    texts
  }
}
