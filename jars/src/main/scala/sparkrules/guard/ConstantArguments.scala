package sparkrules.guard

import scala.collection.mutable

import org.apache.spark.sql.catalyst.analysis.{
  UnresolvedAttribute, UnresolvedExtractValue, UnresolvedFunction, UnresolvedStar
}
import org.apache.spark.sql.catalyst.expressions.{Left => _, Right => _, _}

import sparkrules.value.Exhausted

/**
 * Spark's analyzer computes constant arguments of some functions, such as the schema of `from_json`, and bounds
 * nothing. So constants inside calls are computed within bounds first, the innermost before those around them.
 *
 * @param analyze each expression analysed, by Spark
 * @param evaluate the value of an analysed constant, or why it has none
 */
final class ConstantArguments(
    analyze: IndexedSeq[Expression] => IndexedSeq[Either[Rejection, Expression]],
    evaluate: Expression => Either[Throwable, Any]) {
  import ConstantArguments._

  /** Those of these expressions that have an argument which takes too much, and the rejection with it. */
  def excessive(expressions: IndexedSeq[Expression]): Map[Expression, Rejection] = {
    val arguments = expressions.iterator.map(e => e -> constantsInside(e)).filter(_._2.nonEmpty).toMap
    val rejections = mutable.HashMap.empty[Expression, Rejection]
    arguments.values.flatten.toSet.groupBy(height).toSeq.sortBy(_._1).foreach { case (_, level) =>
      // What contains one of those is not touched.
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

  /** Arguments of calls that have no column in them, but something to compute. */
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
