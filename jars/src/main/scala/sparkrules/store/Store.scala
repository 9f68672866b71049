package sparkrules.store

import java.io.FileNotFoundException

import scala.util.control.NonFatal

import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}
import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FileSystem, Path}
import org.apache.spark.unsafe.types.UTF8String

import sparkrules.conf.{AllowedRuleSets, Listed, RulesException, Settings}

/** A version of a rule set, to which a query is pinned. */
final case class Version(store: String, ruleSet: String, number: Long) {
  override def toString: String = s"$ruleSet@$number"
}

/** Reads the allowed rule sets of a store (docs/store-format.md) in any Hadoop file system. */
final class Store(val root: String, hadoop: Configuration, allowed: AllowedRuleSets = AllowedRuleSets.All) {
  private[sparkrules] val path = StorePath(root, hadoop)
  private[sparkrules] val files: FileSystem =
    try path.getFileSystem(hadoop)
    catch {
      case e @ (NonFatal(_) | _: LinkageError) => throw new RulesException(StorePath.unreachable(path, e), e)
    }

  /** Its path, also for executors, whose working directory can be another one. */
  private[sparkrules] def qualified: String = files.makeQualified(path).toString

  /** The version that `name` means now: for `alerts` the newest, for `alerts@12` version 12. */
  def resolve(name: String): Version = name match {
    case s"$ruleSet@$number" =>
      val version = Version(root, checked(ruleSet), number.toLongOption.getOrElse(
        throw new RulesException(s"'$name' is not a version of a rule set: write '$ruleSet@12' with a number.")))
      if (!files.exists(manifestPath(version))) {
        val known = versions(ruleSet)
        val range = if (known.isEmpty) "" else s" Its versions are ${known.min} to ${known.max}."
        throw new RulesException(s"There is no version $number of rule set '$ruleSet' in $root.$range")
      }
      version
    case _ => Version(root, checked(name), newest(name))
  }

  /** The name. Fails if it is not the name of a rule set that may be used, whether that exists or not. */
  private[sparkrules] def checked(ruleSet: String): String = {
    if (!isName(ruleSet)) {
      throw new RulesException(
        s"'$ruleSet' is not the name of a rule set: letters, digits, '_', '-' and '.' are allowed. A text as the " +
          "first argument names the rule set.")
    }
    if (!allowed(ruleSet)) {
      throw new RulesException(s"Rule set '$ruleSet' is not among those that this server allows: $allowed.")
    }
    ruleSet
  }

  private[sparkrules] def isName(text: String): Boolean = text.matches("[A-Za-z0-9_-][A-Za-z0-9_.-]*")

  /** Whether the rule set exists and may be used. */
  private[sparkrules] def has(ruleSet: String): Boolean =
    isName(ruleSet) && allowed(ruleSet) && versions(ruleSet).nonEmpty

  /** The rule sets that may be used. */
  private[sparkrules] def ruleSets: Seq[String] = namesIn(".").filter(has).sorted

  private[sparkrules] def newest(ruleSet: String): Long = {
    val numbers = versions(ruleSet)
    if (numbers.isEmpty) {
      throw new RulesException(
        s"There is no rule set '$ruleSet' in $root.${others(ruleSet)} Publish it with RuleSet.publish, or set " +
          s"${Settings.Store.key}.")
    }
    numbers.max
  }

  /** The rule sets that exist, for an error message about another. */
  private def others(ruleSet: String): String = {
    val known =
      try ruleSets
      catch { case NonFatal(_) => Nil }
    def distance(name: String) = UTF8String.fromString(name).levenshteinDistance(UTF8String.fromString(ruleSet))
    val near = known.filter(distance(_) <= math.max(2, ruleSet.length / 3)).sortBy(distance).headOption
    val hint = near.fold("")(name => s" Did you mean '$name'?")
    if (known.isEmpty) " It has no rule sets."
    else s"$hint There are: ${Listed(known, Store.Shown)}."
  }

  /** The numbers of the versions of a rule set, in any order; none if it does not exist. */
  private[sparkrules] def versions(ruleSet: String): Seq[Long] = {
    val names = namesIn(s"$ruleSet/versions")
    // A publisher that withdraws a version may die before it has deleted the manifest.
    val gone = withdrawn(names).toSet
    names.flatMap {
      case s"$number.json" => number.toLongOption.filterNot(gone)
      case _ => None
    }
  }

  /** The numbers of withdrawn versions, which are never used again. */
  private[sparkrules] def withdrawn(ruleSet: String): Seq[Long] = withdrawn(namesIn(s"$ruleSet/versions"))

  private def withdrawn(names: Seq[String]): Seq[Long] =
    names.flatMap {
      case s".$number.withdrawn" => number.toLongOption
      case _ => None
    }

  private[sparkrules] def namesIn(directory: String): Seq[String] =
    try files.listStatus(new Path(path, directory)).toSeq.map(_.getPath.getName)
    catch { case _: FileNotFoundException => Nil }

  /** The number of the newest statistics of a rule set, if it has been analysed. */
  def newestStatistics(ruleSet: String): Option[Int] =
    namesIn(s"$ruleSet/statistics").flatMap {
      case s"$number.arrow" => number.toIntOption
      case _ => None
    }.maxOption

  def statistics(ruleSet: String, number: Int): Statistics =
    reading(ruleSet, statisticsFile(ruleSet, number), "analyse")(Statistics.of)

  /** The predicates of the statistics, which older versions of sparkrules did not store. */
  def countedTests(ruleSet: String, number: Int): Option[CountedTests] =
    statisticsSum(ruleSet, number, _.get("predicates")).map { sum =>
      val file = PublishedFile(s"statistics/$number.predicates.arrow", Some(sum))
      reading(ruleSet, file, "analyse")(new CountedTests(_))
    }

  /** The file of statistics. Its checksum is in another file, which older versions of sparkrules did not write. */
  private[sparkrules] def statisticsFile(ruleSet: String, number: Int): PublishedFile =
    PublishedFile(s"statistics/$number.arrow", statisticsSum(ruleSet, number, identity))

  /** The checksum of one of the files of the statistics, if there is one. */
  private def statisticsSum(ruleSet: String, number: Int, of: JsonNode => JsonNode): Option[FileSum] = {
    val sumFile = new Path(path, s"$ruleSet/statistics/$number.json")
    if (!files.exists(sumFile)) None else naming(sumFile, "analyse") {
      val content = bytes(sumFile)
      Checksum.checkSeal(content)
      val json = new ObjectMapper().readTree(content)
      if (json.path("rule_set").asText != ruleSet || json.path("number").asLong != number) {
        val (number, ruleSet) = (json.path("number"), json.path("rule_set"))
        throw new IllegalArgumentException(s"it is of statistics $number of rule set $ruleSet")
      }
      Option(of(json)).map(FileSum.of)
    }
  }

  private[sparkrules] def manifestPath(version: Version): Path =
    new Path(path, s"${version.ruleSet}/versions/${version.number}.json")

  def manifest(version: Version): Manifest = Manifest.read(this, version.ruleSet, version.number)

  /** The rows of a segment's rules that a version no longer has, ascending; the segment has `count` rules. */
  def removed(ruleSet: String, entry: SegmentEntry, count: Int): Array[Int] =
    entry.removedFile.fold(Array.empty[Int]) { file =>
      reading(ruleSet, file) { table =>
        val rows = table.ints("row")
        rows.indices.foreach { i =>
          val row = rows(i)
          if (row < 0 || row >= count) throw new IllegalArgumentException(s"there is no subscription $row of $count")
          if (i > 0 && row <= rows(i - 1)) throw new IllegalArgumentException(s"$row comes after ${rows(i - 1)}")
        }
        rows
      }
    }

  def segment(ruleSet: String, entry: SegmentEntry): Segment = {
    def read[T](table: String)(columns: ArrowTable => T): T = reading(ruleSet, entry.file(table))(columns)
    val attributes = read("attributes")(_.strings("sql"))
    val constants = read("constants")(t => new StoredConstants(t.strings("kind"), t.strings("text")))
    val predicates = read("predicates") { t =>
      new StoredPredicates(t.ints("attribute"), t.strings("operator"), t.lists("constants"))
    }
    val nodes = read("nodes")(t => new StoredNodes(t.strings("operator"), t.ints("predicate"), t.lists("children")))
    def texts: Array[String] = read("subscriptions") { t =>
      t.strings("where").zip(t.strings("sql")).map { case (where, sql) => Option(sql).getOrElse(where) }
    }
    val rules = read("subscriptions") { t =>
      new StoredRules(
        t.utf8Strings("id"),
        t.ints("node"),
        t.ints("priority"),
        t.instants("valid_from"),
        t.instants("valid_until"))(texts)
    }
    val forest = new StoredForest(attributes, constants, predicates, nodes)
    val segment = new Segment(forest, rules, read("functions")(_.strings("name")))
    SegmentCheck.fault(segment).foreach { case (table, fault) =>
      naming(pathOf(ruleSet, entry.file(table)))(throw new IllegalArgumentException(fault))
    }
    segment
  }

  /** The status and the tags of a segment's rules. */
  def marks(ruleSet: String, entry: SegmentEntry): RuleMarks =
    reading(ruleSet, entry.file("subscriptions"))(RuleMarks.of)

  /** The metadata of a segment's rules, as JSON, or null. */
  def metadata(ruleSet: String, entry: SegmentEntry): Array[UTF8String] =
    reading(ruleSet, entry.file("subscriptions"))(_.utf8Strings("metadata"))

  /** The values of a list. */
  private[sparkrules] def values(ruleSet: String, list: PublishedFile): Array[UTF8String] =
    reading(ruleSet, list, "put the list of") { table =>
      val values = table.utf8Strings("value")
      if (values.contains(null)) throw new IllegalArgumentException("a value is NULL")
      values
    }

  /** An open Arrow file, of which only the schema has been read. */
  private[sparkrules] def arrow(ruleSet: String, file: PublishedFile): ArrowFile = {
    val path = pathOf(ruleSet, file)
    val bytes = Repeated(new CheckedBytes(() => files.open(path), files.getFileStatus(path).getLen, file.sum))
    try new ArrowFile(bytes)
    catch { case NonFatal(e) => bytes.close(); throw e }
  }

  private[sparkrules] def pathOf(ruleSet: String, file: PublishedFile): Path = new Path(path, s"$ruleSet/${file.path}")

  private def reading[T](ruleSet: String, file: PublishedFile, remedy: String = "publish")(
      columns: ArrowTable => T): T =
    naming(pathOf(ruleSet, file), remedy) {
      val opened = arrow(ruleSet, file)
      try columns(new ArrowTable(opened))
      finally opened.close()
    }

  /** The length and checksums of a file as it is now. */
  private[sparkrules] def sumOf(file: Path): FileSum = naming(file)(Repeated {
    val in = files.open(file)
    try FileSum.of(in)
    finally in.close()
  })

  /** A file that is read as a whole; fails unless it is the one that was published. */
  private[sparkrules] def content(ruleSet: String, file: PublishedFile): Array[Byte] = {
    val content = bytes(pathOf(ruleSet, file))
    if (file.sum.exists(_ != FileSum.of(content))) {
      throw new IllegalArgumentException("its checksum is not the one that was published")
    }
    content
  }

  private[sparkrules] def bytes(file: Path): Array[Byte] = Repeated {
    val in = files.open(file)
    try in.readAllBytes()
    finally in.close()
  }

  /** Runs `body`. An error of a damaged or missing file names the file and the remedy. */
  private[sparkrules] def naming[T](file: Path, remedy: String = "publish")(body: => T): T =
    try body
    catch {
      case e: RulesException => throw e
      case e: FileNotFoundException =>
        throw new RulesException(s"$file is missing from the store: $remedy the rule set again.", e)
      case e: UnreadableFile =>
        throw new RulesException(s"$file cannot be read: ${e.getMessage}", e)
      case NonFatal(e) =>
        throw new RulesException(s"$file is damaged (${e.getMessage}): $remedy the rule set again.", e)
    }
}

object Store {
  private val Shown = 20
}
