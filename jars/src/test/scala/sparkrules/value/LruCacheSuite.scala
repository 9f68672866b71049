package sparkrules.value

import sparkrules.Suite

/** What has not been used for the longest time is dropped first. */
final class LruCacheSuite extends Suite {

  private def filled: LruCache[String, Int] = {
    val cache = new LruCache[String, Int]
    Seq("a" -> 1, "b" -> 2, "c" -> 3).foreach { case (key, value) => cache.put(key, value) }
    cache
  }

  test("a use makes an entry the last to be dropped") {
    val cache = filled
    checkEqual(cache.get("a"), Option(1), "a")
    checkEqual(cache.trim(2), Seq(2), "what is dropped")
    checkEqual(cache.get("b"), Option.empty[Int], "b")
    checkEqual(cache.getOrElseUpdate("c")(9), 3, "c")
    checkEqual(cache.trim(1), Seq(1), "what is dropped next")
  }

  test("only idle entries are dropped, and only while all are too large") {
    val cache = filled
    checkEqual(cache.trim((key, _) => key != "a")(_.sum > 3), Seq(2, 3), "what is dropped")
    checkEqual(cache.trim((key, _) => key != "a")(_.sum > 0), Seq.empty[Int], "what is not idle")
    checkEqual(cache.removeIf((key, _) => key == "a"), Seq(1), "what is removed")
    checkEqual(cache.size, 0, "size")
  }
}
