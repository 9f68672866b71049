package sparkrules.value

import sparkrules.Suite

/** Integers in flat arrays against collections of Scala. */
final class IntListsSuite extends Suite {

  private def seqs(lists: IntLists): Seq[Seq[Int]] = (0 until lists.size).map(lists(_).toSeq)

  test("lists are what they are made of") {
    cases(300) { random =>
      def some(): Seq[Seq[Int]] = Seq.fill(random.nextInt(6))(Seq.fill(random.nextInt(4))(random.nextInt))
      val parts = Seq.fill(random.nextInt(4))(some())
      checkEqual(seqs(IntLists.concat(parts.map(own => IntLists(own.map(_.toArray))))), parts.flatten, "concatenated")
      val own = some()
      val padded = IntLists(own.map(_.toArray)).withEmpty(2)
      checkEqual(seqs(padded), own ++ Seq(Nil, Nil), "with two that are empty")
    }
  }

  test("values are grouped by key, in the order given") {
    cases(300) { random =>
      val count = 1 + random.nextInt(6)
      val pairs = Seq.fill(random.nextInt(40))((random.nextInt(count), random.nextInt))
      val grouped = IntLists.group(count, pairs.map(_._1).toArray, pairs.map(_._2).toArray)
      checkEqual(seqs(grouped), (0 until count).map(key => pairs.filter(_._1 == key).map(_._2)), s"$pairs")
    }
  }

  test("small integers are sorted, few or many, again and again") {
    cases(100) { random =>
      val limit = 1 + random.nextInt(if (random.nextInt(4) == 0) 300000 else 3000)
      val sorter = new SmallInts(limit)
      (0 until 5).foreach { _ =>
        val most = math.min(limit, if (random.nextBoolean) 60 else 5000)
        val values = Seq.fill(random.nextInt(most + 1))(random.nextInt(limit)).distinct
        // What lies behind them is not theirs.
        val array = (values ++ Seq(-7, -8)).toArray
        sorter.sort(array, values.length)
        checkEqual(array.toSeq, values.sorted ++ Seq(-7, -8), s"${values.length} below $limit")
      }
    }
  }

  test("the first place from which on values are large enough") {
    cases(300) { random =>
      val values = Array.fill(random.nextInt(20))(random.nextInt(30)).sorted
      val from = random.nextInt(values.length + 1)
      val until = from + random.nextInt(values.length - from + 1)
      val least = random.nextInt(32) - 1
      val expected = from + values.slice(from, until).count(_ < least)
      checkEqual(SmallInts.firstFrom(values, from, until, least), expected, s"$least in ${values.mkString(" ")}")
    }
  }
}
