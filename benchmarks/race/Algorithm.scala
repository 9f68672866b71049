package race

/** One of those that race: subscriptions go in, and events find those that match. */
trait Algorithm {
  def name: String
  def insert(subscription: Int): Unit

  /** The subscriptions that match are added to `found`. */
  def filter(event: Array[Int], found: Ints): Unit

  /** Of all data structures, as long as they are filled. */
  def bytes: Long

  /** Nodes, subscriptions or counters that were computed, and values that were passed to one, so far. */
  var computed: Long = 0
  var passed: Long = 0
}
