package sparkrules.bind

import org.apache.spark.sql.catalyst.expressions._

/**
 * Operators that a rule relates are called in an array of one struct around the lambda, because Spark calls no Python
 * function within one: `exists(array(struct(f(x) AS c1, g(x) AS c2)), o -> exists(o.c1, ...))`. That would call all of
 * them whenever one is needed. Here Python functions are inputs already, so calls go where they are used.
 */
private[sparkrules] object JointCalls {
  def inlined(expression: Expression): Expression = expression.transformUp {
    case ArrayExists(CreateArray(Seq(calls: CreateNamedStruct), _), Lambda(body, variable), true)
        if usesOnlyFields(body, variable) =>
      body.transformUp { case Field(`variable`, ordinal) => calls.valExprs(ordinal) }
  }

  private def usesOnlyFields(body: Expression, variable: ExprId): Boolean = body match {
    case Field(`variable`, _) => true
    case other: NamedLambdaVariable => other.exprId != variable
    case other => other.children.forall(usesOnlyFields(_, variable))
  }

  private object Lambda {
    def unapply(e: Expression): Option[(Expression, ExprId)] = e match {
      case LambdaFunction(body, Seq(variable: NamedLambdaVariable), _) => Some((body, variable.exprId))
      case _ => None
    }
  }

  private object Field {
    def unapply(e: Expression): Option[(ExprId, Int)] = e match {
      case GetStructField(struct: NamedLambdaVariable, ordinal, _) => Some((struct.exprId, ordinal))
      case _ => None
    }
  }
}
