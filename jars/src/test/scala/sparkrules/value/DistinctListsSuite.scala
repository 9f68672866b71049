package sparkrules.value

import scala.collection.mutable

import sparkrules.Suite

final class DistinctListsSuite extends Suite {

  test("equal lists have one number, given in the order in which they came") {
    cases(50) { random =>
      val (lists, numbers) = (new DistinctLists, mutable.HashMap.empty[Seq[Int], Int])
      (0 until 500).foreach { _ =>
        val list = Array.fill(random.nextInt(4))(random.nextInt(6))
        val expected = numbers.getOrElseUpdate(list.toSeq, numbers.size)
        checkEqual(lists.add(list), expected, s"the number of ${list.mkString(", ")}")
        checkEqual(lists.size, numbers.size, "the number of lists")
      }
    }
  }
}
