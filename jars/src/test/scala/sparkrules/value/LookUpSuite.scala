package sparkrules.value

import java.util.{Arrays, Random}

import sparkrules.Suite

/** Every way to look up a number against Java's binary search. */
final class LookUpSuite extends Suite {
  private val Extremes = Array(Long.MinValue, Long.MinValue + 1, -1L, 0L, 1L, Long.MaxValue - 1, Long.MaxValue)

  private def sortedKeys(values: Array[Long]): Array[Long] = values.distinct.sorted

  /** Keys that lie close together, far apart, in clusters, on powers of two, or at the ends of what there is. */
  private def randomKeys(random: Random): Array[Long] = {
    val count = random.nextInt(if (random.nextInt(10) == 0) 3000 else 100)
    val own = random.nextInt(6) match {
      case 0 => Array.fill(count)(random.nextInt(2 * count + 1).toLong)
      case 1 => Array.fill(count)(random.nextLong)
      case 2 => Array.fill(count)((random.nextInt(3).toLong << 40) + random.nextInt(100))
      case 3 => Array.fill(count)(1L << random.nextInt(64))
      case 4 => Array.fill(count)(LongKeys.ofDouble(random.nextGaussian))
      case _ => Array.tabulate(count)(i => 1000L * i)
    }
    sortedKeys(if (random.nextInt(3) == 0) own ++ Extremes.filter(_ => random.nextBoolean) else own)
  }

  private def code(keys: Array[Long], value: Long): Int = {
    val found = Arrays.binarySearch(keys, value)
    if (found >= 0) 2 * found + 2 else 2 * (-found - 1) + 1
  }

  private def questions(random: Random, keys: Array[Long]): Iterator[Long] =
    Extremes.iterator ++ keys.iterator.flatMap(key => Iterator(key - 1, key, key + 1)) ++
      Iterator.fill(50)(random.nextLong) ++ Iterator.fill(50)(random.nextInt(200).toLong)

  private def shares(random: Random, codes: Int): Option[Array[Double]] = random.nextInt(4) match {
    case 0 => None
    case 1 => Some(Array.fill(codes)(0.0)) // nothing was seen
    case 2 => Some(Array.tabulate(codes)(code => if (code == codes / 2) 0.95 else 0.05 / codes))
    case _ => Some(Array.tabulate(codes)(code => if (code % 2 == 0) 1.0 / codes else 1e-9))
  }

  test("a binary search finds the code") {
    cases(300) { random =>
      val keys = randomKeys(random)
      val lookUp = LookUp.binary(keys)
      questions(random, keys).foreach(v => checkEqual(lookUp.code(v), code(keys, v), s"$v in ${keys.mkString(" ")}"))
    }
  }

  test("whichever search is chosen finds the code") {
    cases(1000) { random =>
      val keys = randomKeys(random)
      val lookUp = LookUp.choose(keys, shares(random, 2 * keys.length + 2), onlyKeys = false)
      questions(random, keys).foreach { value =>
        checkEqual(lookUp.code(value), code(keys, value), s"${lookUp.name}: $value in ${keys.mkString(" ")}")
      }
    }
  }

  test("where only keys are told apart, a key has its code and no other value has a key's") {
    cases(1000) { random =>
      val keys = randomKeys(random)
      val lookUp = LookUp.choose(keys, shares(random, 2 * keys.length + 2), onlyKeys = true)
      questions(random, keys).foreach { value =>
        val (found, exact) = (lookUp.code(value), code(keys, value))
        check(if (exact % 2 == 0) found == exact else found % 2 == 1, s"${lookUp.name}: $value has $found, not $exact")
      }
    }
  }

  test("each search is chosen by some of these cases") {
    val names = scala.collection.mutable.Set.empty[String]
    cases(1000) { random =>
      val keys = randomKeys(random)
      names += LookUp.choose(keys, shares(random, 2 * keys.length + 2), random.nextBoolean).name
    }
    val plain = Set("binary", "interpolation", "hash")
    checkEqual(names.toSet, plain ++ plain.map("most probable first, then " + _), "searches")
  }
}
