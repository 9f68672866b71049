package sparkrules.python

import scala.collection.mutable.ArrayBuffer

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types.DataType

import sparkrules.bind.Slots
import sparkrules.kernel.CallResult

/**
 * A call of a Python function that rules need.
 *
 * @param function the function, and others that it is called on, over its arguments by their places. It is canonical,
 *   so that plans can be compared. Hidden from Spark's optimizer, which would have it called for every row.
 * @param arguments the places of the arguments among all of a `Match`
 * @param rules how many rules may need the result
 * @param microseconds what a call costs
 * @param planned the function as Spark can plan it: not everything canonical can be computed
 */
final case class PythonCall(
    function: Expression, arguments: Seq[Int], text: String, rules: Int, microseconds: Double)(
    val planned: Expression) {
  def dataType: DataType = function.dataType
}

object PythonCall {

  /**
   * Takes calls apart into functions and arguments; equal arguments are there once. A call within another that rules
   * need by itself, too, is an argument: its result.
   *
   * @param calls the calls as rules have them, with the number of rules and the cost
   */
  def of(calls: Seq[(Expression, Int, Double)]): (Seq[PythonCall], Seq[Expression]) = {
    val places = calls.indices.map(i => calls(i)._1.canonicalized -> i).toMap
    val all = ArrayBuffer.empty[Expression]
    def place(argument: Expression): Int = {
      val known = all.indexWhere(_.semanticEquals(argument))
      if (known >= 0) known else { all += argument; all.length - 1 }
    }
    val own = calls.map { case (call, rules, microseconds) =>
      val arguments = ArrayBuffer.empty[Int]
      def template(e: Expression): Expression = e match {
        // These belong to what is around them, and are no values.
        case named: NamedArgumentExpression => named.mapChildren(template)
        case lambda: LambdaFunction => lambda.transform {
            case read if read.isInstanceOf[Attribute] || Slots.belongsToPlan(read) => template(read)
          }
        case inner: PythonUDF if (inner ne call) && places.contains(inner.canonicalized) =>
          template(CallResult(places(inner.canonicalized), inner.dataType, inner.sql))
        case made if made.exists(_.isInstanceOf[PythonUDF]) => made match {
            case replaced: RuntimeReplaceable => template(replaced.replacement)
            case With(child, definitions) =>
              val values = definitions.map(definition => definition.id -> definition.child).toMap
              template(child.transform { case known: CommonExpressionRef => values.getOrElse(known.id, known) })
            case other => other.mapChildren(template)
          }
        case argument =>
          arguments += place(argument)
          // As if it could be NULL, whatever is known of it: calls of one function are alike.
          BoundReference(arguments.length - 1, argument.dataType, nullable = true)
      }
      val planned = template(call)
      PythonCall(planned.canonicalized, arguments.toSeq, call.sql, rules, microseconds)(planned)
    }
    (own, all.toSeq)
  }
}
