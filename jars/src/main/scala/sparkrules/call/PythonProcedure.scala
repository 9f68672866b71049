package sparkrules.call

import java.util.{Collections, Iterator => JIterator}

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.connector.catalog.procedures.{BoundProcedure, ProcedureParameter, UnboundProcedure}
import org.apache.spark.sql.connector.read.{LocalScan, Scan}
import org.apache.spark.sql.types._

/** A procedure that the Python front end runs. Its first parameter is the rule set. */
final case class PythonProcedure(
    name: String,
    override val description: String,
    more: Seq[ProcedureParameter],
    returns: StructType,
    changesRules: Boolean = true)
    extends UnboundProcedure {
  import PythonProcedure._

  /** A parameter that takes a map or a struct has the type of the argument. */
  override def bind(input: StructType): BoundProcedure = {
    val nested = input.map(_.dataType).find(kind => kind.isInstanceOf[MapType] || kind.isInstanceOf[StructType])
    val typed = more.map { parameter =>
      if (nested.isEmpty || !Nested.contains(parameter.name)) parameter
      else {
        val kind = nullable(nested.get)
        val same = ProcedureParameter.in(parameter.name, kind).comment(parameter.comment)
        if (parameter.defaultValue == null) same.build() else same.defaultValue(s"CAST(NULL AS ${kind.sql})").build()
      }
    }
    Bound(this, RuleSet +: typed)
  }
}

object PythonProcedure {
  private val Nested = Set("metadata", "row")
  private val RuleSet = ProcedureParameter.in("rule_set", StringType).comment("name of the rule set").build()

  /** A type as SQL can write it, for the default. */
  private def nullable(kind: DataType): DataType = kind match {
    case MapType(key, value, _) => MapType(nullable(key), nullable(value))
    case ArrayType(element, _) => ArrayType(nullable(element))
    case StructType(fields) =>
      StructType(fields.map(own => own.copy(dataType = nullable(own.dataType), nullable = true)))
    case other => other
  }

  private final case class Bound(procedure: PythonProcedure, all: Seq[ProcedureParameter]) extends BoundProcedure {
    override def name: String = procedure.name
    override def description: String = procedure.description
    override def parameters: Array[ProcedureParameter] = all.toArray
    override def isDeterministic: Boolean = false

    override def call(input: InternalRow): JIterator[Scan] = {
      val session = SparkSession.active
      val made = new ProcedureCall(procedure, session, input, StructType(all.map(p => StructField(p.name, p.dataType))))
      val found = made.rows()
      Collections.singletonList[Scan](new LocalScan {
        override def readSchema: StructType = procedure.returns
        override def rows: Array[InternalRow] = found
      }).iterator
    }
  }
}
