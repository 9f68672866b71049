package sparkrules.compile

/**
 * Rules, in their order, cut into bands: where only the first few matches are wanted, one band is run after the other
 * until there are enough. Later bands are larger: a row that gets that far may have to go to the end.
 */
private object Bands {
  private val First = 256
  private val Growth = 4

  def of(rules: Int): Seq[Range] = {
    val bounds = Iterator.iterate(First.toLong)(_ * Growth).scanLeft(0L)(_ + _).takeWhile(_ < rules).map(_.toInt).toSeq
    if (bounds.isEmpty) Seq(0 until 0) else bounds.zip(bounds.tail :+ rules).map { case (a, b) => a until b }
  }
}
