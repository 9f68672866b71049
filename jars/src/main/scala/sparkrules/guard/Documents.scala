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
    case document =>
      val path = call.children.lift(1).getOrElse(Literal(null))
      call.withNewChildren(PlainDocument(document, path) +: call.children.tail)
  }
}

/**
 * A document. Fails if it has a document type. It carries the path that the call looks for, because that decides the
 * work ([[Foreseen]]) and the call itself looks different in each version of Spark.
 */
final case class PlainDocument(document: Expression, path: Expression) extends BinaryExpression with CodegenFallback {
  override def left: Expression = document
  override def right: Expression = path
  override def dataType: DataType = document.dataType
  override def nullable: Boolean = document.nullable

  override def eval(row: InternalRow): Any = {
    val document = this.document.eval(row)
    val text = document match {
      case text: UTF8String => text
      case bytes: Array[Byte] => UTF8String.fromBytes(bytes)
      case _ => null
    }
    if (text != null && text.contains(PlainDocument.DocumentType)) throw new DocumentRefused
    document
  }

  override protected def withNewChildrenInternal(left: Expression, right: Expression): Expression = copy(left, right)
}

object PlainDocument {
  // XML's keywords are case-sensitive, and nothing may stand between these characters.
  private val DocumentType = UTF8String.fromString("<!DOCTYPE")
}

final class DocumentRefused
    extends RuntimeException("an XML document with a document type (<!DOCTYPE) is not read", null, false, false)
