package sparkrules.guard

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.analysis.UnresolvedFunction
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenFallback
import org.apache.spark.sql.catalyst.expressions.xml.XPathExtract
import org.apache.spark.sql.types.DataType
import org.apache.spark.unsafe.types.UTF8String

/**
 * Rejects XML documents with a document type. The parser of the `xpath` functions loads the document type from wherever
 * the document says, and expands the entities that it declares. Spark has no setting against this. (`from_xml` and
 * `schema_of_xml` use another parser, which ignores document types.)
 */
object Documents {

  /** The parsed or analysed expression, with a check of every document that goes to such a parser. */
  def guarded(expression: Expression): Expression = expression.transformUp {
    case f: UnresolvedFunction if isXPath(f.nameParts.last) && f.arguments.nonEmpty => onFirst(f)
    case x: XPathExtract => onFirst(x)
  }

  private def isXPath(name: String): Boolean = name.toLowerCase.startsWith("xpath")

  private def onFirst(call: Expression): Expression = call.children.head match {
    case _: PlainDocument | Cast(_: PlainDocument, _, _, _) => call
    case document => call.withNewChildren(PlainDocument(document) +: call.children.tail)
  }
}

/** A document. Fails if it has a document type. */
final case class PlainDocument(child: Expression) extends UnaryExpression with CodegenFallback {
  override def dataType: DataType = child.dataType
  override def nullable: Boolean = child.nullable

  override def eval(row: InternalRow): Any = {
    val document = child.eval(row)
    val text = document match {
      case text: UTF8String => text
      case bytes: Array[Byte] => UTF8String.fromBytes(bytes)
      case _ => null
    }
    if (text != null && text.contains(PlainDocument.DocumentType)) throw new DocumentRefused
    document
  }

  override protected def withNewChildInternal(child: Expression): Expression = copy(child)
}

object PlainDocument {
  // XML's keywords are case-sensitive, and nothing may stand between these characters.
  private val DocumentType = UTF8String.fromString("<!DOCTYPE")
}

final class DocumentRefused
    extends RuntimeException("an XML document with a document type (<!DOCTYPE) is not read", null, false, false)
