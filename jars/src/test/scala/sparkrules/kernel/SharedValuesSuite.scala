package sparkrules.kernel

import scala.collection.mutable

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenFallback
import org.apache.spark.sql.catalyst.util.GenericArrayData
import org.apache.spark.sql.types._

import sparkrules.Suite
import sparkrules.bind.{JointCalls, SharedCalls}
import sparkrules.program.CompiledSlots
import sparkrules.value.{ExpressionBytes, Keys, SharedCall}

/** What slots have in common is computed at most once per row, also within lambdas, and only if it is needed. */
final class SharedValuesSuite extends Suite {
  private val (a, b) = (column("a"), column("b"))

  private def column(name: String): AttributeReference = AttributeReference(name, IntegerType)()

  private def exists(array: Expression)(body: NamedLambdaVariable => Expression): Expression = {
    val x = NamedLambdaVariable("x", array.dataType.asInstanceOf[ArrayType].elementType, nullable = true)
    ArrayExists(array, LambdaFunction(body(x), Seq(x)), followThreeValuedLogic = true)
  }

  /** The codes of slots over the columns a and b. */
  private def codesOf(slots: Expression*): SlotCodes = {
    val bound = SharedCalls.marked(slots.map(JointCalls.inlined)).map(BindReferences.bindReference(_, Seq(a, b)))
    val keys = slots.map(slot => Keys.of(slot.dataType, Array.empty)).toArray
    val compiled =
      new CompiledSlots(ExpressionBytes.of(bound.toArray), slots.map(_ => -1).toArray, keys, Array.empty, Array.empty)
    new SlotCodes(compiled, Seq(0, 1).map(BoundReference(_, IntegerType, nullable = true)), new NestedValues)
  }

  /** How often each operator is called, per row, if all slots are asked for. */
  private def calls(rows: Seq[(Any, Any)], slots: Expression*): Map[String, Double] = {
    val codes = codesOf(slots: _*)
    Operator.calls.clear()
    rows.foreach { case (one, other) =>
      codes.startRow(InternalRow(one, other))
      slots.indices.foreach(codes.of)
    }
    Operator.calls.view.mapValues(_.toDouble / rows.length).toMap
  }

  private val rows = Seq[(Any, Any)]((0, 1), (1, 2), (3, 0), (2, 2))

  test("several slots call an operator once per row") {
    val found = calls(
      rows,
      ArrayMax(Operator("f", a)),
      ArrayMin(Operator("f", a)),
      exists(Operator("f", a))(GreaterThan(_, Literal(1))),
      exists(Operator("f", a))(LessThan(_, Literal(1))),
      ArrayMax(Operator("f", b)))
    checkEqual(found, Map("f" -> 2.0), "calls per row, of f(a) and f(b)")
  }

  test("a lambda does not call an operator again for each element") {
    val nested = exists(Operator("f", a))(x => exists(Operator("g", b))(y => GreaterThan(x, Add(y, Literal(9)))))
    checkEqual(calls(Seq((3, 3)), nested), Map("f" -> 1.0, "g" -> 1.0), "calls")
  }

  test("a call that depends on an element is not shared") {
    val dependent = exists(Operator("f", a))(x => exists(Operator("g", x))(EqualTo(_, Literal(-1))))
    checkEqual(calls(Seq((3, 3)), dependent, dependent), Map("f" -> 1.0, "g" -> 6.0), "calls")
  }

  test("an operator around the lambda is not called unless another one has bindings") {
    val struct = CreateNamedStruct(Seq(Literal("c1"), Operator("f", a), Literal("c2"), Operator("g", b)))
    val joint = exists(CreateArray(Seq(struct))) { o =>
      exists(GetStructField(o, 0))(x => exists(GetStructField(o, 1))(y => GreaterThan(x, y)))
    }
    checkEqual(calls(Seq((0, 3)), joint), Map("f" -> 1.0), "without bindings of f")
    checkEqual(calls(Seq((3, 3)), joint), Map("f" -> 1.0, "g" -> 1.0), "with bindings of f")
  }

  test("a row that follows has values of its own, and a failure is remembered for its row only") {
    val codes = codesOf(ArrayMax(Operator("f", a)), Size(Operator("f", a), legacySizeOfNull = false))
    Operator.calls.clear()
    val found = Seq[Any](2, -1, 1, null).map { value =>
      codes.startRow(InternalRow(value, null))
      (codes.of(0), codes.of(1))
    }
    checkEqual(Operator.calls("f"), 4L, "calls")
    checkEqual(found, Seq((1, 1), (Keys.ErrorCode, Keys.ErrorCode), (1, 1), (0, 0)), "codes")
    checkEqual(codes.errors, 2L, "errors")
  }

  test("columns, constants and what is used once are not marked") {
    val array = AttributeReference("array", ArrayType(IntegerType))()
    val slots = Seq(
      ArrayMax(array), ArrayMin(array), ArrayMax(Operator("f", a)), Size(CreateArray(Seq(Literal(1))), false),
      ArrayMax(CreateArray(Seq(Literal(1)))))
    check(!SharedCalls.marked(slots).exists(_.exists(_.isInstanceOf[SharedCall])), "something is marked")
  }
}

/** Returns so many bindings as its argument says: 0, 1, ...; fails for a negative number. */
private final case class Operator(name: String, child: Expression) extends UnaryExpression with CodegenFallback {
  override def dataType: DataType = ArrayType(IntegerType)
  override def nullable: Boolean = true
  override def eval(row: InternalRow): Any = {
    Operator.calls(name) = Operator.calls.getOrElse(name, 0L) + 1
    child.eval(row) match {
      case null => null
      case count =>
        require(count.asInstanceOf[Int] >= 0, "negative")
        new GenericArrayData((0 until count.asInstanceOf[Int]).toArray[Any])
    }
  }
  override protected def withNewChildInternal(child: Expression): Expression = copy(child = child)
}

private object Operator {
  def apply(name: String, child: Expression): Operator = new Operator(name, child)
  val calls: mutable.Map[String, Long] = mutable.HashMap.empty
}
