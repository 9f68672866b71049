package sparkrules.guard

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenFallback
import org.apache.spark.sql.types.DataType

import sparkrules.value.{Meter, SharedCall, ValueSize}

/**
 * Bounds what an expression takes: forty nested `hex` double a string forty times, lambdas in lambdas multiply their
 * calls. Measures every value whose type has no fixed size, counts calls of lambdas, and estimates functions whose
 * value or time can be far larger than their arguments ([[Foreseen]]).
 */
object Metering {

  /** The expression, bound to its inputs, within bounds. */
  def apply(expression: Expression): Expression = {
    val meter = new Meter
    val metered = expression.transformUp(
      BoundedRegex.bounded(meter).orElse(Foreseen.bounded(meter)).orElse {
        case LambdaFunction(body, arguments, isHidden) =>
          LambdaFunction(Measured(body, meter, LambdaSteps), arguments, isHidden)
        case e if grows(e) => Measured(e, meter)
      }: PartialFunction[Expression, Expression])
    val isMetered = metered.exists {
      case _: BoundedTest | _: BoundedSearch | _: Measured | _: Foreseen => true
      case _ => false
    }
    if (isMetered) MeteredRow(metered, meter) else expression
  }

  /** The expression without its meters, and without what marks its common parts. */
  val unmetered: PartialFunction[Expression, Expression] = {
    case BoundedTest(test, _) => test
    case BoundedSearch(search, _) => search
    case Measured(child, _, _) => child
    case MeteredRow(child, _) => child
    case Foreseen(child, _) => child
    case Held(child) => child
    case SharedCall(child, _) => child
  }

  private val LambdaSteps = 250L

  private def grows(e: Expression): Boolean = e match {
    case _: LeafExpression | _: LambdaFunction => false
    // These return an argument or a part of it.
    case _: GetStructField | _: GetArrayItem | _: GetMapValue | _: If | _: CaseWhen | _: Coalesce => false
    case _: SharedCall => false
    case _ => ValueSize.isOpen(e.dataType)
  }
}

/** Starts the meter for a row. */
final case class MeteredRow(child: Expression, meter: Meter) extends UnaryExpression with CodegenFallback {
  override def dataType: DataType = child.dataType
  override def nullable: Boolean = child.nullable
  override def eval(row: InternalRow): Any = {
    meter.startRow()
    child.eval(row)
  }
  override protected def withNewChildInternal(child: Expression): Expression = copy(child)
}

/** Measures a value. */
final case class Measured(child: Expression, meter: Meter, steps: Long = 1)
    extends UnaryExpression with CodegenFallback {
  override def dataType: DataType = child.dataType
  override def nullable: Boolean = child.nullable
  @transient private lazy val isOpen = ValueSize.isOpen(dataType)

  override def eval(row: InternalRow): Any = {
    val value = child.eval(row)
    meter.spend(steps)
    if (isOpen && value != null) {
      val size = ValueSize.of(value, dataType, meter.most)
      meter.spend(size)
      meter.hold(size)
    }
    value
  }
  override protected def withNewChildInternal(child: Expression): Expression = copy(child)
}
