package sparkrules.guard

import org.apache.spark.sql.internal.SQLConf

import sparkrules.Suite
import sparkrules.conf.Settings

/** One slow expression is abandoned; slow ones together have a budget; ordinary ones never need it. */
final class DeadlineSuite extends Suite {

  private def deadline(seconds: Int, total: Int): Deadline = {
    val conf = new SQLConf
    conf.setConfString(Settings.BindSeconds.key, seconds.toString)
    conf.setConfString(Settings.BindTotalSeconds.key, total.toString)
    new Deadline(null, conf)
  }

  private def endless(): Unit = while (!Thread.currentThread.isInterrupted) ()

  /** Which setting is to blame for the end of endless work. */
  private def blamed(work: => Unit): String =
    try { work; "in time" }
    catch {
      case e: TooSlow => Seq(Settings.BindSeconds, Settings.BindTotalSeconds).map(_.key)
          .find(key => e.getMessage.contains(s"($key)")).getOrElse("none, but late")
    }

  test("slow expressions use up what they have together") {
    val bounded = deadline(seconds = 1, total = 2)
    checkEqual(
      Seq.fill(5)(blamed(bounded.one(10)(endless()))),
      Seq.fill(2)(Settings.BindSeconds.key) ++ Seq.fill(3)(Settings.BindTotalSeconds.key),
      "what five endless expressions exceed")
    checkEqual((1 to 50).map(i => bounded.one(10)(i)), 1 to 50, "what ordinary expressions give after that")
    checkEqual(bounded.many(50)(7), 7, "what many of them give")
  }

  test("work for many expressions costs nothing, however long it takes") {
    val bounded = deadline(seconds = 1, total = 1)
    checkEqual(Seq.fill(2)(blamed(bounded.many(2)(endless()))), Seq.fill(2)("none, but late"), "many")
    checkEqual(blamed(bounded.one(10)(endless())), Settings.BindSeconds.key, "one after that")
  }

  test("an error of the work is its own") {
    val bounded = deadline(seconds = 1, total = 1)
    val found =
      try bounded.one(1)(throw new IllegalStateException("mine"))
      catch { case e: IllegalStateException => e.getMessage }
    checkEqual(found, "mine", "the error")
  }
}
