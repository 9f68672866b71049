package sparkrules.guard

import scala.collection.mutable

import org.apache.spark.sql.catalyst.analysis._
import org.apache.spark.sql.catalyst.expressions.{Left => _, Right => _, _}

import sparkrules.value.Exhausted

/**
 * Spark's analyzer computes constant arguments of some functions, such as the schema of `from_json`, without bounds. So
 * constants inside calls are first computed within bounds, the innermost first.
 *
 * @param analyze analyses each expression
 * @param evaluate computes the value of an analysed constant, or the reason why it has none
 */
final class ConstantArguments(
    analyze: IndexedSeq[Expression] => IndexedSeq[Either[Rejection, Expression]],
    evaluate: Expression => Either[Throwable, Any]) {
  import ConstantArguments._

  /** The expressions with an argument that takes too much, each with its rejection. */
  def excessive(expressions: IndexedSeq[Expression]): Map[Expression, Rejection] = {
    val arguments = expressions.iterator.map(e => e -> constantsInside(e)).filter(_._2.nonEmpty).toMap
    val rejections = mutable.HashMap.empty[Expression, Rejection]
    arguments.values.flatten.toSet.groupBy(height).toSeq.sortBy(_._1).foreach { case (_, level) =>
      // An expression around a rejected one is not evaluated.
      val open = level.toIndexedSeq.filterNot(_.exists(rejections.contains))
      open.zip(analyze(open)).foreach {
        case (constant, Right(analyzed)) if analyzed.foldable => evaluate(analyzed) match {
            case Left(e @ (_: Exhausted | _: StackOverflowError | _: OutOfMemoryError)) =>
              rejections(constant) = Rejection(Option(e.getMessage).getOrElse(e.toString), isExcessive = true)
            case _ =>
          }
        case _ =>
      }
    }
    arguments.flatMap { case (e, inside) => inside.flatMap(rejections.get).headOption.map(e -> _) }
  }
}

object ConstantArguments {

  /** Arguments of calls without a column in them that have to be computed. */
  private def constantsInside(e: Expression): Seq[Expression] = {
    val found = mutable.ArrayBuffer.empty[Expression]
    // Whether the expression is constant.
    def visit(e: Expression, isInside: Boolean): Boolean = {
      val isCall = e.isInstanceOf[UnresolvedFunction] || e.isInstanceOf[UnresolvedExtractValue]
      val areConstant = e.children.map(visit(_, isInside || isCall))
      val isConstant = areConstant.forall(identity) && (e match {
        case _: UnresolvedAttribute | _: UnresolvedStar | _: Attribute => false
        case _: LambdaFunction | _: NamedLambdaVariable | _: UnresolvedNamedLambdaVariable => false
        case _ => true
      })
      if (isConstant && isInside && e.children.nonEmpty) found += e
      isConstant
    }
    visit(e, isInside = false)
    found.toSeq
  }

  private def height(e: Expression): Int = if (e.children.isEmpty) 0 else 1 + e.children.map(height).max
}
