package sparkrules.bind

import scala.collection.mutable

import org.apache.spark.sql.catalyst.expressions._

import sparkrules.value.{NestedType, SharedCall}

/**
 * Finds what slots have in common that is worth remembering: functions of users, and arrays, maps and structs that are
 * not columns, such as the bindings that an operator returns. Within a lambda they would even be computed for every
 * element.
 */
private[sparkrules] object SharedCalls {

  /** The expressions, with their common parts marked. */
  def marked(expressions: Seq[Expression]): Seq[Expression] = {
    val times = mutable.HashMap.empty[Expression, Int].withDefaultValue(0)
    def count(e: Expression, weight: Int): Unit = {
      if (isShareable(e)) times(e.canonicalized) += weight
      e.children.foreach(count(_, if (e.isInstanceOf[LambdaFunction]) 2 else weight))
    }
    expressions.foreach(count(_, 1))
    val numbers = mutable.HashMap.empty[Expression, Int]
    def mark(e: Expression): Expression = {
      val inner = e.mapChildren(mark)
      if (!isShareable(e) || times(e.canonicalized) < 2) inner
      else SharedCall(inner, numbers.getOrElseUpdate(e.canonicalized, numbers.size))
    }
    if (times.valuesIterator.exists(_ > 1)) expressions.map(mark) else expressions
  }

  private def isShareable(e: Expression): Boolean = isCostly(e) && !e.foldable && e.deterministic && isClosed(e)

  private def isCostly(e: Expression): Boolean = e match {
    case _: LeafExpression | _: LambdaFunction => false
    case _: UserDefinedExpression => true
    case GetStructField(struct, _, _) => NestedType.is(e.dataType) && !isPlace(struct)
    case _ => NestedType.is(e.dataType)
  }

  private def isPlace(e: Expression): Boolean = e match {
    case _: Attribute => true
    case GetStructField(struct, _, _) => isPlace(struct)
    case _ => false
  }

  /** Whether it depends on no variable of a lambda around it. */
  private def isClosed(e: Expression): Boolean = {
    val bound = e.collect { case lambda: LambdaFunction => lambda.arguments.map(_.exprId) }.flatten.toSet
    !e.exists {
      case variable: NamedLambdaVariable => !bound(variable.exprId)
      case _ => false
    }
  }
}
