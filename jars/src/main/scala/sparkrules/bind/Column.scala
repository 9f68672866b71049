package sparkrules.bind

import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, AttributeReference, Expression}
import org.apache.spark.sql.catalyst.util.CharVarcharUtils
import org.apache.spark.sql.types.{DataType, Metadata, MetadataBuilder}

/**
 * A column that rules can use: its qualifiers and name, and its type. The metadata say that a string is a CHAR(n),
 * which Spark pads where it is compared.
 */
final case class Column(names: Seq[String], dataType: DataType, nullable: Boolean, metadata: Metadata) {
  def attribute: AttributeReference =
    AttributeReference(names.last, dataType, nullable, metadata)(qualifier = names.init)

  /** The n of a CHAR(n). */
  def charLength: Option[Int] = Column.charLength(attribute)
}

object Column {
  private val Declared = "__CHAR_VARCHAR_TYPE_STRING"
  // Spark's parser would do, but this is asked for every constant.
  private val Char = """(?i)char\((\d{1,9})\).*""".r

  /** The n of a CHAR(n). Spark pads it or the constant, the shorter one, with blanks at the end. */
  def charLength(column: Attribute): Option[Int] =
    CharVarcharUtils.getRawTypeString(column.metadata).collect { case Char(length) => length.toInt }

  def of(names: Seq[String], input: Expression): Column =
    Column(names, input.dataType, input.nullable, metadataOf(input))

  /** Only the metadata that belong to the type: a new comment is no reason to compile the rules again. */
  def metadataOf(input: Expression): Metadata =
    CharVarcharUtils.getRawTypeString(Alias(input, "input")().metadata) match {
      case Some(declared) => new MetadataBuilder().putString(Declared, declared).build()
      case None => Metadata.empty
    }
}
