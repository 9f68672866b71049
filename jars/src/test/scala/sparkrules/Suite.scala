package sparkrules

import java.util.Random

import scala.collection.mutable.ArrayBuffer

/** Tests of one room's part, by name. A test fails if it throws, as `check` does. */
abstract class Suite {
  private val tests = ArrayBuffer.empty[(String, () => Unit)]

  protected final def test(name: String)(body: => Unit): Unit = tests += ((name, () => body))

  protected final def check(condition: Boolean, message: => String): Unit =
    if (!condition) throw new AssertionError(message)

  protected final def checkEqual[A](found: A, expected: A, about: => String): Unit =
    check(found == expected, s"$about: $found instead of $expected")

  /** Runs random cases, each with a seed of its own that is named if it fails: with SEED set to it, it comes first. */
  protected final def cases(count: Int)(body: Random => Unit): Unit =
    (0 until count * Suite.Times).foreach { i =>
      val seed = Suite.Seed + i
      // Neighbouring seeds give similar first numbers, unless some are skipped.
      val random = new Random(seed * 0x9e3779b97f4a7c15L)
      try body(random)
      catch { case e: Throwable => throw new AssertionError(s"SEED=$seed: $e", e) }
    }

  /** Runs all tests, prints what failed, and gives the numbers of those that passed and failed. */
  final def run(): (Int, Int) = {
    val failed = tests.toSeq.flatMap { case (name, body) =>
      try { body(); None }
      catch { case e: Throwable => Some((name, e)) }
    }
    println(s"${getClass.getName}: ${tests.length - failed.length} passed, ${failed.length} failed")
    failed.foreach { case (name, error) =>
      println(s"  FAILED $name")
      println(s"    ${error.getMessage}")
      Suite.placesOf(error).foreach(place => println(s"      at $place"))
    }
    (tests.length - failed.length, failed.length)
  }
}

object Suite {
  private val Seed = sys.env.get("SEED").filter(_.nonEmpty).fold(0L)(_.toLong)

  /** How many times as many cases as usual. */
  private val Times = sys.env.get("TIMES").filter(_.nonEmpty).fold(1)(_.toInt)

  private val MostPlaces = 8

  def oneOf[A](random: Random)(some: A*): A = some(random.nextInt(some.length))

  /** Where the first cause was thrown, as far as it is of interest. */
  private def placesOf(error: Throwable): Seq[StackTraceElement] = {
    val first = Iterator.iterate(error)(_.getCause).takeWhile(_ != null).toSeq.last
    val places = first.getStackTrace.toSeq
    val own = places.filter(_.getClassName.matches("sparkrules\\.\\w+\\..*"))
    (places.take(1).filterNot(_.getClassName.startsWith("sparkrules.Suite")) ++ own).distinct.take(MostPlaces)
  }
}

/** Runs the suites that its arguments name; fails if a test does. */
object RunSuites {
  def main(names: Array[String]): Unit = {
    val results = names.toSeq.map { name =>
      Class.forName(name).getDeclaredConstructor().newInstance().asInstanceOf[Suite].run()
    }
    val failed = results.map(_._2).sum
    println(s"${results.map(_._1).sum} passed, $failed failed")
    if (failed > 0) sys.exit(1)
  }
}
