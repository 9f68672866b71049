package race

import java.lang.management.ManagementFactory
import java.nio.file.{Files, Path}

/**
 * Runs all algorithms that can take a workload, and prints a line of tab-separated figures for each.
 *
 * Arguments: the file of the workload; seconds per algorithm; how many rounds they are divided into; and, to be
 * checked, a file for the matches of every event. In each round the algorithms take turns, so that a disturbance of the
 * machine meets them all. Times are of the thread's processor; the median of the rounds counts.
 */
object Race {
  private val threads = ManagementFactory.getThreadMXBean
  private val Checked = 20
  private val WarmUp = 10000

  def main(arguments: Array[String]): Unit = {
    val work = Workload.read(Path.of(arguments(0)))
    val (seconds, rounds) = (arguments(1).toDouble, arguments(2).toInt)
    val index = new PredicateIndex(work)
    warmUp(work, index)
    val forest = new ATree(work)
    val filters = new General(work, forest, index) +: new ZeroSuppression(work, forest, index) +:
      (if (work.hasXor) Nil else List(new TrueValuePath(work, forest, index)))
    val peers = List(new BruteForce(work)) ++
      (if (work.isConjunctive) List(new Counting(work, index)) else Nil) ++
      (if (work.isConjunctive && work.onlyEquality) List(new MatchingTree(work, index)) else Nil)
    // One forest for all filters: what it takes to insert is the same for them.
    val inserted = (filters.head +: peers).map(own => own -> rate(work.size, own.insert)).toMap
    val all = filters ++ peers
    check(all, work.events.iterator.take(Checked).toSeq)
    if (arguments.length > 3) writeMatches(all, work, Path.of(arguments(3)))
    all.foreach(new Lap(_, work.events).run(seconds / 4))
    all.foreach { own =>
      own.computed = 0
      own.passed = 0
    }
    val laps = all.map(new Lap(_, work.events))
    val speeds = Seq.fill(rounds)(laps.map(_.run(seconds / rounds))).transpose.map(_.sorted.apply(rounds / 2))
    val bytes = all.map(_.bytes)
    val nodes = forest.nodes
    val deleted = rate(work.size, forest.delete)
    if (forest.nodes != 0) throw new IllegalStateException(s"${forest.nodes} nodes are left after all deletions")
    println("algorithm\tinsertions\tdeletions\tevents\tbytes\tcomputed\tpassed\tmatches\tnodes")
    for (((own, lap), (speed, size)) <- all.zip(laps).zip(speeds.zip(bytes))) {
      val isFilter = own.isInstanceOf[Filter]
      val insertions = inserted(if (isFilter) filters.head else own)
      val perEvent = Seq(own.computed, own.passed, lap.matches).map(_ / lap.count.toDouble)
      val figures = Seq(insertions, if (isFilter) deleted else 0.0, speed, size.toDouble) ++ perEvent ++
        Seq(if (isFilter) nodes.toDouble else 0.0)
      println((own.name +: figures.map(_.toString)).mkString("\t"))
    }
  }

  /** So that the first that inserts is not the one that waits for the compiler. */
  private def warmUp(work: Workload, index: PredicateIndex): Unit = {
    val forest = new ATree(work)
    val (counting, tree) = (new Counting(work, index), new MatchingTree(work, index))
    val some = 0 until math.min(WarmUp, work.size)
    some.foreach { subscription =>
      forest.insert(subscription)
      counting.insert(subscription)
      tree.insert(subscription)
    }
    some.foreach(forest.delete)
  }

  private def rate(count: Int, change: Int => Unit): Double = {
    val start = threads.getCurrentThreadCpuTime
    var i = 0
    while (i < count) {
      change(i)
      i += 1
    }
    count * 1e9 / math.max(1L, threads.getCurrentThreadCpuTime - start)
  }

  private def check(all: Seq[Algorithm], events: Seq[Array[Int]]): Unit = events.zipWithIndex.foreach {
    case (event, n) =>
      val answers = all.map(own => own.name -> matches(own, event))
      answers.tail.find(_._2 != answers.head._2).foreach { case (name, found) =>
        val (first, expected) = answers.head
        throw new IllegalStateException(s"event $n: $name has ${found.size} matches, $first has ${expected.size}")
      }
  }

  private def matches(own: Algorithm, event: Array[Int]): Seq[Int] = {
    val found = new Ints()
    own.filter(event, found)
    found.values.take(found.size).sorted.toSeq
  }

  private def writeMatches(all: Seq[Algorithm], work: Workload, file: Path): Unit = {
    val lines = for (own <- all; (event, n) <- work.events.zipWithIndex) yield
      s"${own.name}\t$n\t${matches(own, event).mkString(" ")}"
    Files.writeString(file, lines.mkString("", "\n", "\n"))
  }

  /** Goes round and round over the events, from where it stopped. */
  private final class Lap(own: Algorithm, events: Array[Array[Int]]) {
    private val found = new Ints()
    private var at = 0
    var count, matches = 0L

    /** Events per second. */
    def run(seconds: Double): Double = {
      val start = threads.getCurrentThreadCpuTime
      val end = start + (seconds * 1e9).toLong
      var done = 0
      while (done == 0 || threads.getCurrentThreadCpuTime < end) {
        found.clear()
        own.filter(events(at), found)
        matches += found.size
        at = if (at + 1 == events.length) 0 else at + 1
        done += 1
      }
      count += done
      done * 1e9 / math.max(1L, threads.getCurrentThreadCpuTime - start)
    }
  }
}
