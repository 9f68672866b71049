package sparkrules.scan

import java.util.Arrays

import scala.collection.mutable

import sparkrules.value.{Codes, IntLists}

/**
 * Chooses, for each box, one column that stands for it, so that few rows have one of the codes that are needed then.
 * This is a set cover: take the codes of a column with the smallest share of rows per box that they newly stand for,
 * until all boxes have a column. Wide sets stand for narrower ones: `price < 20` for `price < 7.4`.
 */
private final class Cover(columns: IndexedSeq[ScanColumn], boxes: IndexedSeq[Box]) {

  // Each box has one set of codes per column that it needs something of.
  private val setColumns: Array[Int] = boxes.iterator.flatMap(_.columns).toArray
  private val setCodes: Array[Array[Int]] = boxes.iterator.flatMap(_.codes).toArray
  private val firstSets: Array[Int] = boxes.iterator.map(_.columns.length).scanLeft(0)(_ + _).toArray
  private val setBoxes: Array[Int] = boxes.indices.flatMap(b => Array.fill(boxes(b).columns.length)(b)).toArray

  /** Per column: its sets, those with the smallest share of rows first. */
  private val bySize: IntLists = {
    val order = setColumns.indices.iterator.map { set =>
      val share = columns(setColumns(set)).share(setCodes(set)).max(0.0).toFloat
      java.lang.Float.floatToIntBits(share).toLong << 32 | set
    }.toArray
    Arrays.sort(order)
    val sorted = order.map(_.toInt)
    IntLists.group(columns.length, sorted.map(setColumns(_)), sorted)
  }

  /** Choices, the most promising ones: per column the codes that are chosen, or none. Empty if all are too large. */
  def candidates: Seq[IndexedSeq[Array[Int]]] = {
    val alone = columns.indices.filter(bySize.length(_) == boxes.length).map { column =>
      columns.indices.map(c => if (c == column) union(column, bySize(column)) else Array.empty[Int])
    }
    greedy.toSeq ++ alone.sortBy(share).take(Cover.MostAlone)
  }

  /** The share of rows that have a chosen code of any column, if columns are independent. */
  private def share(codes: IndexedSeq[Array[Int]]): Double =
    1.0 - columns.indices.map(c => 1.0 - columns(c).share(codes(c))).product

  private def greedy: Option[IndexedSeq[Array[Int]]] = {
    val marks = columns.map(new Marks(_))
    val isCovered = new Array[Boolean](boxes.length)
    val used = mutable.HashSet.empty[Int]
    var (open, tolerance) = (boxes.length, 1.5)
    while (open > 0 && used.size <= Cover.MostColumns) {
      val (column, sets) = columns.indices.flatMap(cheapest(_, marks, isCovered, tolerance)).minBy(_._1)._2
      used += column
      sets.foreach(set => marks(column).add(setCodes(set)))
      marks(column).count()
      bySize(column).foreach { set =>
        if (!isCovered(setBoxes(set)) && marks(column).contains(setCodes(set))) {
          isCovered(setBoxes(set)) = true
          open -= 1
        }
      }
      tolerance *= 1.5 // an end is in sight, however many different sets there are
    }
    Option.when(used.size <= Cover.MostColumns)(withoutNeedless(marks.map(_.codes)))
  }

  // What a box costs, and the sets of a column that cost that.
  private type Offer = (Double, (Int, Array[Int]))

  /** The sets of a column, from the smallest on, that cost least for each box that they newly stand for. */
  private def cheapest(
      column: Int, marks: IndexedSeq[Marks], isCovered: Array[Boolean], tolerance: Double): Option[Offer] = {
    val sets = bySize(column).filter(set => !isCovered(setBoxes(set)))
    val trial = marks(column).copy()
    val ratios = new Array[Double](sets.length)
    var cost = 0.0
    sets.indices.foreach { i =>
      cost += trial.add(setCodes(sets(i)))
      ratios(i) = cost / (i + 1)
    }
    ratios.minOption.map { best =>
      (best, (column, sets.take(1 + ratios.lastIndexWhere(_ <= best * tolerance))))
    }
  }

  /** Leaves out codes of a column that only boxes need which another column stands for as well. */
  private def withoutNeedless(all: IndexedSeq[Array[Int]]): IndexedSeq[Array[Int]] =
    columns.indices.filter(all(_).nonEmpty).sortBy(c => -columns(c).share(all(c))).foldLeft(all) { (codes, column) =>
      val marks = columns.indices.map { c =>
        val others = new Marks(columns(c))
        if (c != column) others.add(codes(c))
        others.count()
        others
      }
      val needed = bySize(column).filter { set =>
        val own = firstSets(setBoxes(set)) until firstSets(setBoxes(set) + 1)
        !own.exists(other => setColumns(other) != column && marks(setColumns(other)).contains(setCodes(other)))
      }
      // A box that no column stands for any more would be lost: its set of this column is among the needed ones.
      val fewer = codes.updated(column, Codes.intersection(codes(column), union(column, needed)))
      if (share(fewer) < share(codes)) fewer else codes
    }

  private def union(column: Int, sets: Array[Int]): Array[Int] = Marks.union(columns(column), sets.map(setCodes(_)))
}

private object Cover {

  /** Each column is a disjunct. Rules that search strings have a column for each string. */
  val MostColumns = 32

  // Columns that could stand for all boxes, of which the best is found only when others are added to them.
  private val MostAlone = 4
}
