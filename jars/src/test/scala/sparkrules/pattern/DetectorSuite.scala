package sparkrules.pattern

import java.io.{ByteArrayInputStream, ByteArrayOutputStream, DataInputStream, DataOutputStream}
import java.util.Random

import org.apache.spark.unsafe.types.UTF8String

import sparkrules.Suite

/** What a detector finds does not depend on when it is told of the time, nor on whether its state is stored between. */
final class DetectorSuite extends Suite {
  import DetectorSuite._

  test("a detector that is stored, told of the time, or forgotten when it is done, finds the same") {
    cases(3000) { random =>
      val pattern = randomPattern(random)
      val events = Seq.fill(random.nextInt(25))(randomEvent(random, pattern)).sorted(Event.order)
      val end = 60L + random.nextInt(60)
      val atOnce = new Detector(pattern)
      events.foreach(atOnce.take)
      atOnce.passed(end)
      var stored = new Detector(pattern)
      val found = events.indices.flatMap { i =>
        stored.take(events(i))
        // All events of this time must have been taken before time may pass.
        val next = if (i + 1 < events.length) events(i + 1).time else end + 1
        if (next > events(i).time && random.nextBoolean()) {
          val passed = events(i).time + random.nextInt((next - events(i).time).toInt)
          stored.passed(passed)
          val seen = stored.detections()
          stored = if (stored.isDone) new Detector(pattern) else copy(stored)
          seen
        } else {
          val seen = stored.detections()
          stored = copy(stored)
          seen
        }
      }
      stored.passed(end)
      val (all, expected) = ((found ++ stored.detections()).map(shown), atOnce.detections().map(shown))
      checkEqual(all, expected, s"$pattern\n${events.map(shown)}")
    }
  }

  test("nothing is to be done before a detector wakes up") {
    cases(2000) { random =>
      val pattern = randomPattern(random)
      val detector = new Detector(pattern)
      Seq.fill(random.nextInt(8))(randomEvent(random, pattern)).sorted(Event.order).foreach(detector.take)
      detector.detections()
      val moment = detector.wakeUp
      if (moment != Course.Never) {
        val before = bytes(detector)
        detector.passed(moment - 2)
        check(detector.detections().isEmpty, s"$pattern finds something before $moment")
        check(before.sameElements(bytes(detector)), s"$pattern changes before $moment")
        detector.passed(moment - 1)
        check(detector.detections().nonEmpty || detector.wakeUp != moment, s"$pattern sleeps on")
      }
    }
  }

  test("the parts of a key can be told apart") {
    cases(500) { random =>
      val texts = Seq("", ":", "1:a", "12", "ü😀", "\u0000", "a b").map(_ * random.nextInt(3))
      val values = Seq.fill(random.nextInt(5))(texts(random.nextInt(texts.length)))
      val pattern = randomPattern(random)
      val key = values.foldLeft(PatternKey.of(pattern)) { (key, value) =>
        UTF8String.concat(key, PatternKey.part(UTF8String.fromString(value)))
      }
      checkEqual(PatternKey.read(key.toString), PatternKey(pattern.id, pattern.fingerprint, values), "the key")
    }
  }
}

private object DetectorSuite {
  def randomPattern(random: Random): Pattern = {
    val kind = Kind.All(random.nextInt(Kind.All.length))
    val steps = kind match {
      case Kind.Sequence | Kind.Together => 2 + random.nextInt(3)
      case Kind.Absence | Kind.Change => 2
      case _ => 1
    }
    val within = 1L + random.nextInt(30)
    Pattern(
      "p:1",
      kind,
      Vector.fill(steps)(Seq(Term("rule", "rule"))),
      Seq("k"),
      within,
      after = if (kind == Kind.Sequence && random.nextBoolean()) random.nextInt(within.toInt).toLong else 0,
      atLeast = 1 + random.nextInt(4),
      distinct = Option.when(kind == Kind.Count && random.nextBoolean())("v"),
      isOverlapping = random.nextBoolean(),
      suppress = if (kind == Kind.Match || random.nextInt(3) == 0) 1L + random.nextInt(15) else 0,
      metadata = None,
      fingerprint = "00ff")
  }

  def randomEvent(random: Random, pattern: Pattern): Event = {
    val all = (1L << pattern.steps.length) - 1
    val steps = if (pattern.kind == Kind.Change) 1L << random.nextInt(2) else 1 + random.nextInt(all.toInt).toLong
    val id = if (random.nextBoolean()) null else s"r${random.nextInt(5)}"
    new Event(random.nextInt(50).toLong, id, steps, pattern.distinct.map(_ => s"v${random.nextInt(4)}").orNull)
  }

  def bytes(detector: Detector): Array[Byte] = {
    val out = new ByteArrayOutputStream
    detector.write(new DataOutputStream(out))
    out.toByteArray
  }

  def copy(detector: Detector): Detector = {
    val read = new Detector(detector.pattern)
    read.read(new DataInputStream(new ByteArrayInputStream(bytes(detector))))
    read
  }

  def shown(event: Event): String = s"${event.time}/${event.id}/${event.steps}/${event.value}"

  def shown(found: Detection): String =
    s"${found.kind} ${found.start}-${found.end} ${found.count} ${found.rows.map(r => s"${r.step}:${shown(r.event)}")}"
}
