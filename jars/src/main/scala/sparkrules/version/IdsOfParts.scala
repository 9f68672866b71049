package sparkrules.version

import org.apache.spark.sql.catalyst.expressions.UnsafeArrayData

import sparkrules.program.{IdBuffer, Ids}

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
    val size = Ids.sizeOf(count, words)
    val array = buffer.start(count, size)
    var entry = UnsafeArrayData.calculateHeaderPortionInBytes(count)
    var place = entry + 8 * count
    i = 0
    while (i < count) {
      val own = if (found(i) >= 0) main else all(order.part(found(i)))
      place = own.write(order.rule(found(i)), array, entry, place)
      entry += 8
      i += 1
    }
    Ids.arrayOf(array, size)
  }
}
