package sparkrules.value

import java.util.Random

import scala.collection.immutable.BitSet

import sparkrules.Suite

/** Operations on intervals of codes against the same operations on sets of bits. */
final class CodesSuite extends Suite {
  private val Most = 40

  private def bits(intervals: Array[Int]): BitSet =
    BitSet.fromSpecific(Codes.pairs(intervals).flatMap { case (first, last) => first to last })

  private def intervalsOf(bits: BitSet): Array[Int] = {
    val firsts = bits.toSeq.filter(code => !bits(code - 1 max 0) || code == 0)
    val lasts = bits.toSeq.filter(code => !bits(code + 1))
    firsts.zip(lasts).flatMap { case (first, last) => Seq(first, last) }.toArray
  }

  private def randomSet(random: Random): BitSet = random.nextInt(6) match {
    case 0 => BitSet.empty
    case 1 => BitSet.fromSpecific(0 to Most)
    case _ =>
      val share = random.nextDouble
      BitSet.fromSpecific((0 to Most).filter(_ => random.nextDouble < share))
  }

  private def isCanonical(intervals: Array[Int]): Boolean =
    Codes.pairs(intervals).forall { case (first, last) => first <= last } &&
      (2 until intervals.length by 2).forall(i => intervals(i) > intervals(i - 1) + 1)

  test("intervals are sorted, and apart from each other") {
    cases(500) { random =>
      val (a, b) = (intervalsOf(randomSet(random)), intervalsOf(randomSet(random)))
      check(isCanonical(a), a.mkString(" "))
      check(isCanonical(Codes.union(Seq(a, b))), s"${a.mkString(" ")} and ${b.mkString(" ")}")
    }
  }

  test("intersection and union are those of sets") {
    cases(2000) { random =>
      val (a, b) = (randomSet(random), randomSet(random))
      checkEqual(bits(Codes.intersection(intervalsOf(a), intervalsOf(b))), a & b, s"$a and $b")
      val all = Seq.fill(random.nextInt(5))(randomSet(random))
      checkEqual(bits(Codes.union(all.map(intervalsOf))), all.foldLeft(BitSet.empty)(_ | _), s"any of $all")
    }
  }

  test("contains and meet, with other sets before and after") {
    cases(2000) { random =>
      val (before, own, after) = (randomSet(random), randomSet(random), randomSet(random))
      val all = intervalsOf(before) ++ intervalsOf(own) ++ intervalsOf(after)
      val from = intervalsOf(before).length
      val until = from + intervalsOf(own).length
      (-1 to Most + 1).foreach { code =>
        checkEqual(Codes.contains(all, from, until, code), code >= 0 && own(code), s"$code in $own")
      }
      val other = randomSet(random)
      checkEqual(Codes.meet(all, from, until, intervalsOf(other)), (own & other).nonEmpty, s"$own meets $other")
    }
  }

  /** Whether a predicate holds for a value, by comparing it with the constants. None is NULL. */
  private def holds(operator: String, value: Option[Int], constants: Seq[Option[Int]]): Boolean = {
    val known = constants.flatten
    def compared(by: (Int, Int) => Boolean): Boolean = value.exists(v => constants.head.exists(by(v, _)))
    operator match {
      case "is null" => value.isEmpty
      case "is not null" => value.nonEmpty
      case "<=>" => value == constants.head
      case "not <=>" => value != constants.head
      case "=" => compared(_ == _)
      case "<>" => compared(_ != _)
      case "<" => compared(_ < _)
      case "<=" => compared(_ <= _)
      case ">" => compared(_ > _)
      case ">=" => compared(_ >= _)
      case "in" => value.exists(known.contains(_))
      case "not in" => value.exists(v => !known.contains(v)) && known.length == constants.length
    }
  }

  private val single = Seq("is null", "is not null", "<=>", "not <=>", "=", "<>", "<", "<=", ">", ">=")

  test("a predicate's codes are those of the values for which it is true") {
    cases(3000) { random =>
      val keys = Seq.fill(1 + random.nextInt(8))(random.nextInt(30)).distinct.sorted
      def code(value: Int): Int = {
        val below = keys.count(_ < value)
        if (keys.contains(value)) 2 * below + 2 else 2 * below + 1
      }
      def constant(): Option[Int] = if (random.nextInt(6) == 0) None else Some(keys(random.nextInt(keys.length)))
      val operator = (single ++ Seq("in", "not in"))(random.nextInt(single.length + 2))
      val constants = Seq.fill(if (operator.endsWith("in")) 1 + random.nextInt(4) else 1)(constant())
      val points = constants.flatten.map(code).toArray
      val codes = Codes.of(operator, points, constants.contains(None), 2 * keys.length + 1)
      check(isCanonical(codes) || operator == "in", s"$operator $constants: ${codes.mkString(" ")}")
      (None +: (-1 to 31).map(Option(_))).foreach { value =>
        val found = Codes.contains(codes, 0, codes.length, value.fold(Keys.NullCode)(code))
        checkEqual(found, holds(operator, value, constants), s"$value $operator $constants among $keys")
      }
    }
  }

  test("predicates of a Boolean") {
    val expected = Map(
      "is true" -> Set(Keys.TrueCode),
      "is false" -> Set(Keys.FalseCode),
      "is not true" -> Set(Keys.NullCode, Keys.FalseCode),
      "is not false" -> Set(Keys.NullCode, Keys.TrueCode))
    expected.foreach { case (operator, wanted) =>
      val codes = bits(Codes.of(operator, Array.empty, hasNull = false, max = 5))
      checkEqual(Set(Keys.NullCode, Keys.FalseCode, Keys.TrueCode).filter(codes), wanted, operator)
    }
  }

  test("gaps are ignored if a set has all codes between keys, or none") {
    cases(1000) { random =>
      val own = randomSet(random)
      val max = 2 * (Most / 2) - 1
      val within = own.filter(_ <= max)
      val gaps = (1 to max by 2).map(within)
      val expected = gaps.forall(identity) || !gaps.exists(identity)
      checkEqual(Codes.ignoresGaps(intervalsOf(within), max), expected, s"$within up to $max")
    }
  }
}
