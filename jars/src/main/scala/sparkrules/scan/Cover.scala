package sparkrules.scan

import java.util.Arrays

import scala.collection.mutable

import sparkrules.value.{Codes, IntArrays, IntLists}

/**
 * Chooses, for each box, one column that stands for it, so that few rows have one of the codes that are needed then.
 * This is a set cover: take the codes of a column with the smallest share of rows per box that they newly stand for,
 * until all boxes have a column. Wide sets stand for narrower ones: `price < 20` for `price < 7.4`.
 */
private final class Cover(columns: IndexedSeq[ScanColumn], boxes: Boxes) {

  /** Per column: its sets, those with the smallest share of rows first. */
  private val bySize: IntLists = {
    // Sets may be there that no box needs any more, as another is narrower.
    val order = Array.range(0, boxes.columns.length).filter(boxes.users.length(_) > 0).map { set =>
      val share = columns(boxes.columns(set)).share(boxes.codes(set)).max(0.0).toFloat
      java.lang.Float.floatToIntBits(share).toLong << 32 | set
    }
    Arrays.sort(order)
    val sorted = order.map(_.toInt)
    IntLists.group(columns.length, sorted.map(boxes.columns(_)), sorted)
  }

  /** The most promising choices: per box, the column that stands for it. */
  def candidates: Seq[Array[Int]] = {
    val alone = columns.indices.filter(usersOf(_) == boxes.size).sortBy(c => columns(c).share(union(c, bySize(c))))
    greedy.toSeq ++ alone.take(Cover.MostAlone).map(Array.fill(boxes.size)(_))
  }

  private def usersOf(column: Int): Int = {
    var (users, i) = (0, bySize.start(column))
    while (i < bySize.end(column)) { users += boxes.users.length(bySize.values(i)); i += 1 }
    users
  }

  /** None if it would take too many columns: rules that search a string have a column for each text they search for. */
  private def greedy: Option[Array[Int]] = {
    val marks = columns.map(new Marks(_))
    val open = new OpenBoxes(boxes)
    val used = mutable.HashSet.empty[Int]
    var tolerance = 1.5
    while (open.size > 0 && used.size <= ScanBounds.Disjuncts) {
      val (column, sets) = columns.indices.flatMap(cheapest(_, marks, open, tolerance)).minBy(_._1)._2
      used += column
      sets.foreach(set => marks(column).add(boxes.codes(set)))
      marks(column).count()
      bySize(column).foreach { set =>
        if (open.users(set) > 0 && marks(column).contains(boxes.codes(set))) open.close(set)
      }
      tolerance *= 1.5 // an end is in sight, however many different sets there are
    }
    Option.when(open.size == 0)(firstStanding(withoutNeedless(marks.map(_.codes))))
  }

  // What a box costs, and the sets of a column that cost that.
  private type Offer = (Double, (Int, Array[Int]))

  /** The sets of a column, from the smallest on, that cost least for each box that they newly stand for. */
  private def cheapest(column: Int, marks: IndexedSeq[Marks], open: OpenBoxes, tolerance: Double): Option[Offer] = {
    val sets = bySize(column).filter(open.users(_) > 0)
    val trial = marks(column).copy()
    val ratios = new Array[Double](sets.length)
    var (cost, users, i) = (0.0, 0, 0)
    while (i < sets.length) {
      cost += trial.add(boxes.codes(sets(i)))
      users += open.users(sets(i))
      ratios(i) = cost / users
      i += 1
    }
    ratios.minOption.map { best =>
      (best, (column, sets.take(1 + ratios.lastIndexWhere(_ <= best * tolerance))))
    }
  }

  /** Leaves out codes of a column that only boxes need which another column stands for as well. */
  private def withoutNeedless(all: IndexedSeq[Array[Int]]): IndexedSeq[Array[Int]] =
    columns.indices.filter(all(_).nonEmpty).sortBy(c => -columns(c).share(all(c))).foldLeft(all) { (codes, column) =>
      val isOfOthers = standing(codes.updated(column, Array.empty[Int]))
      val isBoxOfOthers = new Array[Boolean](boxes.size)
      isOfOthers.indices.foreach { set =>
        if (isOfOthers(set)) (boxes.users.start(set) until boxes.users.end(set)).foreach { i =>
          isBoxOfOthers(boxes.users.values(i)) = true
        }
      }
      // A box that no column stands for any more would be lost: its set of this column is among the needed ones.
      val needed = bySize(column).filter(set => IntArrays.exists(boxes.users(set))(!isBoxOfOthers(_)))
      val fewer = codes.updated(column, Codes.intersection(codes(column), union(column, needed)))
      if (share(fewer) < share(codes)) fewer else codes
    }

  /** The share of rows that have a chosen code of any column, if columns are independent. */
  private def share(codes: IndexedSeq[Array[Int]]): Double =
    1.0 - columns.indices.map(c => 1.0 - columns(c).share(codes(c))).product

  /** Per set: whether all its codes are among those that are chosen. */
  private def standing(chosen: IndexedSeq[Array[Int]]): Array[Boolean] = {
    val stands = new Array[Boolean](boxes.columns.length)
    columns.indices.filter(chosen(_).nonEmpty).foreach { column =>
      val marks = Marks.counted(columns(column), chosen(column))
      bySize(column).foreach(set => stands(set) = marks.contains(boxes.codes(set)))
    }
    stands
  }

  /** Per box: the first column of which it needs only codes that are chosen. */
  private def firstStanding(chosen: IndexedSeq[Array[Int]]): Array[Int] = {
    val isStanding = standing(chosen)
    val first = Array.fill(boxes.size)(columns.length)
    isStanding.indices.foreach { set =>
      if (isStanding(set)) (boxes.users.start(set) until boxes.users.end(set)).foreach { i =>
        val box = boxes.users.values(i)
        first(box) = first(box).min(boxes.columns(set))
      }
    }
    first
  }

  private def union(column: Int, sets: Array[Int]): Array[Int] = Marks.union(columns(column), sets.map(boxes.codes(_)))
}

private object Cover {

  // Columns that could stand for all boxes, of which the best is found only when others are added to them.
  private val MostAlone = 4
}

/** The boxes that no column stands for yet. */
private final class OpenBoxes(boxes: Boxes) {
  private val isClosed = new Array[Boolean](boxes.size)

  /** Per set: how many of the boxes need it. */
  val users: Array[Int] = Array.tabulate(boxes.columns.length)(boxes.users.length(_))

  var size: Int = boxes.size

  /** The column of a set stands for the boxes that need it. */
  def close(set: Int): Unit = {
    var i = boxes.users.start(set)
    while (i < boxes.users.end(set)) {
      val box = boxes.users.values(i)
      if (!isClosed(box)) {
        isClosed(box) = true
        size -= 1
        var j = boxes.sets.start(box)
        while (j < boxes.sets.end(box)) { users(boxes.sets.values(j)) -= 1; j += 1 }
      }
      i += 1
    }
  }
}
