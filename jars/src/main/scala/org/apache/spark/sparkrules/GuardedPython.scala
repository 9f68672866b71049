package org.apache.spark.sparkrules

import java.io.ByteArrayOutputStream
import java.nio.{ByteBuffer, ByteOrder}
import java.nio.charset.StandardCharsets.UTF_8

import org.apache.spark.api.python.{PythonEvalType, SimplePythonFunction}
import org.apache.spark.sql.catalyst.expressions.PythonUDF
import org.apache.spark.sql.types.{StringType, StructType}

/**
 * A Python function that returns what it raises, beside its result, so that its worker lives on. In Spark's package, as
 * only there a function can be made.
 */
object GuardedPython {

  /** Its result is a struct of `value` and `error`. None for functions of whole batches: those fail as a whole. */
  def of(function: PythonUDF): Option[PythonUDF] = function.func match {
    case own: SimplePythonFunction if OfRows(function.evalType) && function.children.forall(!_.exists(isPython)) =>
      val result = new StructType().add("value", function.dataType).add("error", StringType)
      val guarded = own.copy(command = pickled(own.command.toArray).toSeq)
      Some(function.copy(func = guarded, dataType = result))
    case _ => None
  }

  private val OfRows = Set(PythonEvalType.SQL_BATCHED_UDF, PythonEvalType.SQL_ARROW_BATCHED_UDF)

  private val isPython: Any => Boolean = _.isInstanceOf[PythonUDF]

  // Workers need not have sparkrules, so the function is sent as source. It gets what Spark would have sent.
  private val Source =
    """import traceback
      |from pyspark.serializers import CloudPickleSerializer
      |from pyspark.sql.types import StringType, StructField, StructType
      |
      |def guarded(command):
      |    serializer = CloudPickleSerializer()
      |    loaded = serializer.loads(command)
      |    if not isinstance(loaded, tuple):  # a large one is a broadcast
      |        loaded = serializer.loads(loaded.value)
      |    function, result = loaded
      |
      |    def returning(*args, **kwargs):
      |        try:
      |            return function(*args, **kwargs), None
      |        except Exception as error:
      |            lines = "".join(traceback.format_exception_only(type(error), error)).strip().splitlines()
      |            return None, lines[-1] if lines else type(error).__name__
      |
      |    return returning, StructType([StructField("value", result), StructField("error", StringType())])
      |""".stripMargin

  /** `guarded(command)` as a pickle: what Python evaluates to load it. */
  private def pickled(command: Array[Byte]): Array[Byte] = {
    val literal = Source.map {
      case '\n' => "\\n"
      case '"' => "\\\""
      case other => other.toString
    }.mkString("\"", "", "\"")
    val expression = s"(lambda scope: (exec($literal, scope), scope['guarded'])[1])({})".getBytes(UTF_8)
    val out = new ByteArrayOutputStream
    def sized(opcode: Char, bytes: Array[Byte]): Unit = {
      out.write(opcode.toInt)
      out.write(ByteBuffer.allocate(4).order(ByteOrder.LITTLE_ENDIAN).putInt(bytes.length).array)
      out.write(bytes)
    }
    def called(): Unit = out.write(Array(0x85.toByte, 'R'.toByte)) // with one argument
    out.write(Array(0x80.toByte, 3.toByte)) // the protocol
    out.write("cbuiltins\neval\n".getBytes(UTF_8))
    sized('X', expression)
    called()
    sized('B', command)
    called()
    out.write('.'.toInt)
    out.toByteArray
  }
}
