package sparkrules.value

import java.io.{ByteArrayInputStream, ByteArrayOutputStream, ObjectInputStream, ObjectOutputStream}

import org.apache.spark.sql.catalyst.expressions.Expression

/** Serialised expressions: each task needs its own copy, because expressions can have state. */
object ExpressionBytes {
  def of(expressions: Array[Expression]): Array[Byte] = {
    val bytes = new ByteArrayOutputStream
    val out = new ObjectOutputStream(bytes)
    out.writeObject(expressions)
    out.close()
    bytes.toByteArray
  }

  def read(bytes: Array[Byte]): Array[Expression] = {
    val in = new ObjectInputStream(new ByteArrayInputStream(bytes)) {
      override def resolveClass(description: java.io.ObjectStreamClass): Class[_] =
        try Class.forName(description.getName, false, Thread.currentThread.getContextClassLoader)
        catch { case _: ClassNotFoundException => super.resolveClass(description) }
    }
    in.readObject().asInstanceOf[Array[Expression]]
  }
}
