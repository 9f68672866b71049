package sparkrules.overlap

import java.util.Arrays

import sparkrules.kernel.{PartialTruth, Runner, Truth}
import sparkrules.program.Forest
import sparkrules.value.{IntBuffer, IntLists, Keys}

/**
 * The nodes where rules of a version can meet. Some nodes are not needed:
 *
 *   - A node with one user has no group of two.
 *   - If a node's only parent is an OR, the OR is true whenever the node is, and has the same users: the same group.
 *   - The same holds if the only parent is an AND with no OR above it: it is true whenever any of its users is.
 *   - At some nodes all users exclude each other (see [[Exclusion]]).
 *
 * The other nodes are numbered. A node that several parts of the version have (see [[CommonNodes]]) is always kept,
 * with one number for all parts: what is above it in one part need not be in the others.
 *
 * @param nodes per part and rule: the numbers of its nodes
 * @param places per number: where its entry begins in `entries`
 * @param entries per node: the part whose slots and nodes the entry names. Most entries go on with the number of
 *   ranges, all of which must hold, and the slot, the first and the last code of each. The others have 0 and the node
 *   itself.
 */
final class SharedNodes(val nodes: Array[IntLists], places: Array[Int], entries: Array[Int]) {

  /** How many numbers there are. */
  def size: Int = places.length

  /** The parts that have nodes which are more than ranges. */
  lazy val complexParts: Set[Int] = places.iterator.filter(place => entries(place + 1) == 0).map(entries(_)).toSet

  /** Whether the node of a number is true for the current row of the parts' runners. */
  def isTrue(number: Int, runners: Array[Runner], truths: Array[Truth]): Boolean = {
    val place = places(number)
    val part = entries(place)
    val ranges = entries(place + 1)
    if (ranges == 0) truths(part).of(entries(place + 2))
    else {
      val codes = runners(part).codes
      val end = place + 2 + 3 * ranges
      var i = place + 2
      while (i < end && { val code = codes.of(entries(i)); code >= entries(i + 1) && code <= entries(i + 2) }) i += 3
      i == end
    }
  }

  /**
   * The first call of a Python function that can decide the node of a number; negative if nothing is open.
   *
   * @param truths per part that has nodes which are more than ranges
   */
  def openCall(number: Int, runners: Array[Runner], truths: Array[PartialTruth]): Int = {
    val place = places(number)
    val part = entries(place)
    val ranges = entries(place + 1)
    if (ranges == 0) truths(part).callFor(entries(place + 2))
    else {
      val codes = runners(part).codes
      val end = place + 2 + 3 * ranges
      var i = place + 2
      var first = Int.MaxValue
      var isFalse = false
      while (i < end && !isFalse) {
        val code = codes.of(entries(i))
        if (code == Keys.OpenCode) first = math.min(first, codes.openCall(entries(i)))
        else isFalse = code < entries(i + 1) || code > entries(i + 2)
        i += 3
      }
      if (isFalse || first == Int.MaxValue) -1 else first
    }
  }
}

object SharedNodes {

  /**
   * @param common per part: the nodes that other parts have too, and `numbers` their numbers
   * @param count how many such numbers there are
   */
  def of(forests: Array[Forest], common: Array[Array[Int]], numbers: Array[Array[Int]], count: Int): SharedNodes = {
    val (places, entries) = (new IntBuffer, new IntBuffer)
    (0 until count).foreach(_ => places += -1)
    val nodes = forests.indices.map { part =>
      val forest = forests(part)
      val numberOf = kept(forest, common(part))
      common(part).indices.foreach { i =>
        val (node, number) = (common(part)(i), numbers(part)(i))
        numberOf(node) = number
        if (places(number) < 0) places(number) = addEntry(forest, part, node, entries)
      }
      val isCommon = new java.util.BitSet
      common(part).foreach(isCommon.set)
      numberOf.indices.foreach { node =>
        if (numberOf(node) >= 0 && !isCommon.get(node)) {
          numberOf(node) = places.length
          places += addEntry(forest, part, node, entries)
        }
      }
      val walk = new Walk(forest, numberOf)
      forest.roots.foreach(walk.add)
      withoutExcluded(forest, new IntLists(walk.ends.toArray, walk.found.toArray), places.length, count)
    }.toArray
    new SharedNodes(nodes, places.toArray, entries.toArray)
  }

  /** The lists without the nodes, of this part alone, where no rule can meet another. */
  private def withoutExcluded(forest: Forest, lists: IntLists, end: Int, common: Int): IntLists = {
    val owners = new Array[Int](lists.values.length)
    (0 until lists.size).foreach(i => Arrays.fill(owners, lists.start(i), lists.end(i), i))
    val users = IntLists.group(end, lists.values, owners)
    val exclusion = Exclusion.of(forest)
    val (kept, numbers) = (new IntBuffer, new IntBuffer)
    (0 until end).foreach { number =>
      def keep(user: Int): Unit = { kept += user; numbers += number }
      if (number < common) users(number).foreach(keep) else exclusion.foreachThatCanMeet(users, number)(keep)
    }
    IntLists.group(lists.size, kept.toArray, numbers.toArray)
  }

  /** Per node: 0 if it is kept, else -1. Parents come after their children: one pass from the end sees all parents. */
  private def kept(forest: Forest, common: Array[Int]): Array[Int] = {
    import forest.{children, kinds}
    val roots = new Array[Boolean](forest.size)
    val (users, parents) = (new Array[Byte](forest.size), new Array[Byte](forest.size))
    // Per node: whether there is no OR above it; whether its last parent has the same group.
    val (sure, follows) = (Array.fill(forest.size)(true), new Array[Boolean](forest.size))
    forest.roots.foreach { root => roots(root) = true; users(root) = atMostTwo(users(root) + 1) }
    val numbers = Array.fill(forest.size)(-1)
    var node = forest.size - 1
    while (node >= 0) {
      if (users(node) > 0) {
        val isOr = kinds(node) == Forest.Or
        var i = children.start(node)
        while (i < children.end(node)) {
          val child = children.values(i)
          users(child) = atMostTwo(users(child) + users(node))
          parents(child) = atMostTwo(parents(child) + 1)
          follows(child) = isOr || sure(node)
          if (isOr || !sure(node)) sure(child) = false
          i += 1
        }
        if (users(node) > 1 && (roots(node) || parents(node) > 1 || !follows(node))) numbers(node) = 0
      }
      node -= 1
    }
    common.foreach(numbers(_) = 0)
    numbers
  }

  private def atMostTwo(count: Int): Byte = math.min(count, 2).toByte

  /** Adds the entry of a node, and returns its place. */
  private def addEntry(forest: Forest, part: Int, node: Int, entries: IntBuffer): Int = {
    import forest.{children, intervals, kinds, slots}
    def isRange(node: Int): Boolean = kinds(node) == Forest.Predicate && intervals.length(node) == 2
    val place = entries.length
    entries += part
    val ranges = if (kinds(node) == Forest.And) children(node) else Array(node)
    if (ranges.nonEmpty && ranges.forall(isRange)) {
      entries += ranges.length
      ranges.foreach { predicate =>
        entries += slots(predicate)
        intervals(predicate).foreach(entries += _)
      }
    } else {
      entries += 0
      entries += node
    }
    place
  }

  /** Finds the numbers of the nodes of one rule after the other. */
  private final class Walk(forest: Forest, numberOf: Array[Int]) {
    import forest.children
    val (found, ends) = (new IntBuffer, new IntBuffer)
    ends += 0

    // Per node: whether it or a node below it is numbered. Other nodes need not be visited.
    private val isAbove = new Array[Boolean](forest.size)
    numberOf.indices.foreach { node =>
      var found = numberOf(node) >= 0
      var i = children.start(node)
      while (!found && i < children.end(node)) { found = isAbove(children.values(i)); i += 1 }
      isAbove(node) = found
    }
    private val visits = new Array[Int](forest.size)
    private var visit = 0
    private var (open, opened) = (new Array[Int](64), 0)

    def add(root: Int): Unit = {
      visit += 1
      enter(root)
      while (opened > 0) {
        opened -= 1
        val node = open(opened)
        if (numberOf(node) >= 0) found += numberOf(node)
        var i = children.start(node)
        while (i < children.end(node)) { enter(children.values(i)); i += 1 }
      }
      ends += found.length
    }

    private def enter(node: Int): Unit =
      if (isAbove(node) && visits(node) != visit) {
        visits(node) = visit
        if (opened == open.length) open = Arrays.copyOf(open, 2 * opened)
        open(opened) = node
        opened += 1
      }
  }
}
