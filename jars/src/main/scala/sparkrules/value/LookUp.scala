package sparkrules.value

/**
 * Finds the code of a number among sorted keys (see [[Keys]]). Which search is fastest depends on the keys and on the
 * values. It is the one with the fewest expected comparisons, E(X) + R0 of Hinze and Bittner's "Efficient
 * Distribution-Based Event Filtering", for the distribution of values that `RuleSet.analyze` has found.
 *
 * | search | a look-up |
 * |---|---|
 * | binary | halves the keys, without branches to mispredict |
 * | interpolation | a table leads from the value's place between the lowest and the highest key to the few keys there |
 * | hash | finds keys at once; other values take a binary search, unless no predicate needs their place |
 *
 * Each can be preceded by a comparison with the most probable range.
 *
 * @param table interpolation: per part of the span the first key in it; hash: 1 + the number of a key, or 0
 * @param first interpolation: the lowest key of the span, and `last` the highest
 * @param shift interpolation: takes a value to its part of the span; hash: a product to its place in the table
 * @param hotLow the lowest value of the most probable range, `hotHigh` the highest; none if lower than `hotLow`
 */
final class LookUp private (
    keys: Array[Long],
    search: Int,
    table: Array[Int],
    first: Long,
    last: Long,
    shift: Int,
    onlyKeys: Boolean,
    hotCode: Int,
    hotLow: Long,
    hotHigh: Long)
    extends Serializable {
  import LookUp._

  def code(value: Long): Int =
    if (value >= hotLow && value <= hotHigh) hotCode
    else if (search == Binary) binary(value)
    else if (search == Hash) hash(value)
    else interpolation(value)

  def name: String = (if (hotLow <= hotHigh) "most probable first, then " else "") + Names(search)

  private def binary(value: Long): Int = if (keys.length == 0) 1 else among(value, 0, keys.length)

  /** Among `count` keys, at least one, from `start`: written so that the compiler makes conditional moves. */
  private def among(value: Long, start: Int, count: Int): Int = {
    var base = start
    var rest = count
    while (rest > 1) {
      val half = rest >>> 1
      base = if (keys(base + half) <= value) base + half else base
      rest -= half
    }
    val key = keys(base)
    if (value < key) 2 * base + 1 else if (value == key) 2 * base + 2 else 2 * base + 3
  }

  private def interpolation(value: Long): Int =
    if (value < first || value > last) binary(value)
    else {
      val part = ((value - first) >>> shift).toInt
      val start = table(part)
      val count = table(part + 1) - start
      if (count == 0) 2 * start + 1 else among(value, start, count)
    }

  private def hash(value: Long): Int = {
    var place = placeOf(value, shift)
    var key = table(place)
    while (key != 0 && keys(key - 1) != value) {
      place = (place + 1) & (table.length - 1)
      key = table(place)
    }
    if (key != 0) 2 * key else if (onlyKeys) 1 else binary(value)
  }

  private def withFirst(code: Int): LookUp = {
    val (low, high) =
      if (code % 2 == 0) (keys(code / 2 - 1), keys(code / 2 - 1))
      else {
        (if (code == 1) Long.MinValue else keys(code / 2 - 1) + 1,
          if (code / 2 == keys.length) Long.MaxValue else keys(code / 2) - 1)
      }
    new LookUp(keys, search, table, first, last, shift, onlyKeys, code, low, high)
  }
}

object LookUp {
  private final val Binary = 0
  private final val Interpolation = 1
  private final val Hash = 2
  private val Names = Array("binary", "interpolation", "hash")

  /** What reading a table costs, in comparisons: measured, as is that of a wrongly predicted branch. */
  private val TableCost = 2.0
  private val BranchCost = 3.0
  /** Among so few keys no table was faster. */
  private val Few = 16
  private val LargestTable = 1 << 28

  def binary(keys: Array[Long]): LookUp = plain(keys, Binary, Array.empty, 0, 0, 0, onlyKeys = false)

  /**
   * The search with the fewest expected comparisons.
   *
   * @param shares the share of rows per code; without, all codes are as likely, and there is no hash table for values
   *   that may miss it, which costs more than it can save
   * @param onlyKeys whether no predicate distinguishes values that are not keys: all of them then have the code 1
   */
  def choose(keys: Array[Long], shares: Option[Array[Double]], onlyKeys: Boolean): LookUp =
    if (keys.length <= 2) binary(keys)
    else {
      val weights = weightsOf(keys, shares)
      def hashes = if (shares.isDefined || onlyKeys) hashed(keys, weights, onlyKeys) else None
      val tables = if (keys.length <= Few) Nil else interpolated(keys, weights) ++ hashes
      val candidates = Seq((stepsAmong(keys.length), () => binary(keys))) ++ tables
      val (cost, search) = candidates.minBy(_._1)
      val likely = weights.indices.maxBy(weights(_))
      // A branch that is taken every other time is mispredicted as often.
      val chance = weights(likely)
      val withFirst = 1 + (1 - chance) * (cost + BranchCost)
      if (shares.isDefined && withFirst < cost) search().withFirst(likely) else search()
    }

  /** Per code, without that of NULL, which needs no search. */
  private def weightsOf(keys: Array[Long], shares: Option[Array[Double]]): Array[Double] = {
    val likely = shares.map(_.clone()).getOrElse(Array.fill(2 * keys.length + 2)(1.0))
    likely(Keys.NullCode) = 0.0
    val sum = likely.sum
    if (sum > 0) likely.map(_ / sum) else weightsOf(keys, None)
  }

  private def stepsAmong(count: Int): Double = (32 - Integer.numberOfLeadingZeros(count)).toDouble

  /** Interpolation between the outermost keys but for one in 64, so that a few far away do not spoil it. */
  private def interpolated(keys: Array[Long], weights: Array[Double]): Option[(Double, () => LookUp)] = {
    val (from, until) = (keys.length / 64, keys.length - keys.length / 64)
    val (first, last) = (keys(from), keys(until - 1))
    val span = last - first
    if (span <= 0) None // it exceeds 64 bits
    else {
      val parts = math.min(4L * (until - from), LargestTable)
      val shift = Iterator.from(0).find(s => (span >>> s) < parts).get
      val starts = new Array[Int]((span >>> shift).toInt + 2)
      var key = from
      starts.indices.foreach { part =>
        while (key < until && ((keys(key) - first) >>> shift) < part) key += 1
        starts(part) = key
      }
      def stepsAt(key: Int): Double =
        if (key < from || key >= until) stepsAmong(keys.length)
        else {
          val part = ((keys(key) - first) >>> shift).toInt
          TableCost + stepsAmong(starts(part + 1) - starts(part))
        }
      // A value between two keys lies in the part of either, or in an empty one between them.
      val steps = weights.indices.iterator.drop(1).map { code =>
        val (below, above) = (stepsAt(math.max(code / 2 - 1, 0)), stepsAt(math.min(code / 2, keys.length - 1)))
        weights(code) * (if (code % 2 == 0) below else (below + above) / 2)
      }
      Some((steps.sum, () => plain(keys, Interpolation, starts, first, last, shift, onlyKeys = false)))
    }
  }

  private def hashed(
      keys: Array[Long], weights: Array[Double], onlyKeys: Boolean): Option[(Double, () => LookUp)] =
    if (keys.length > LargestTable / 2) None
    else {
      val hits = weights.indices.iterator.drop(2).filter(_ % 2 == 0).map(weights(_)).sum
      val misses = if (onlyKeys) 1.0 else BranchCost + stepsAmong(keys.length)
      Some((TableCost + hits + (1 - hits) * misses, () => hash(keys, onlyKeys)))
    }

  private def hash(keys: Array[Long], onlyKeys: Boolean): LookUp = {
    val size = Integer.highestOneBit(keys.length) * 4
    val shift = 64 - Integer.numberOfTrailingZeros(size)
    val table = new Array[Int](size)
    keys.indices.foreach { key =>
      var place = placeOf(keys(key), shift)
      while (table(place) != 0) place = (place + 1) & (size - 1)
      table(place) = key + 1
    }
    plain(keys, Hash, table, 0, 0, shift, onlyKeys)
  }

  // Fibonacci hashing: the highest bits of the product depend on all bits of the value, also those of doubles.
  private def placeOf(value: Long, shift: Int): Int = ((value * 0x9e3779b97f4a7c15L) >>> shift).toInt

  private def plain(
      keys: Array[Long], search: Int, table: Array[Int], first: Long, last: Long, shift: Int, onlyKeys: Boolean) =
    new LookUp(keys, search, table, first, last, shift, onlyKeys, 0, Long.MaxValue, Long.MinValue)
}
