package sparkrules.version

import org.apache.spark.sql.catalyst.expressions.UnsafeArrayData

import sparkrules.program.{IdArray, IdBuffer, Ids}

/** The ids of rules of several parts. */
object IdsOfParts {

  /** The ids of the first `count` rules of `found`, which are numbered as in `order`, as an array of Spark. */
  def array(all: Array[Ids], order: Order, found: Array[Int], count: Int, buffer: IdBuffer): UnsafeArrayData = {
    val main = all(order.main)
    var words = 0L
    var i = 0
    while (i < count) {
      words += (if (found(i) >= 0) main else all(order.part(found(i)))).words(order.rule(found(i)))
      i += 1
    }
    val array = new IdArray(count, words, buffer)
    i = 0
    while (i < count) {
      array.add(if (found(i) >= 0) main else all(order.part(found(i))), order.rule(found(i)))
      i += 1
    }
    array.written
  }
}
