package sparkrules.metrics

import java.util.Date

import scala.xml.{Node, Text}

import org.apache.spark.sparkrules.TabPage

/** The tab *Rules* of the Spark UI. Ids and names are texts of others: they are only ever nodes of text. */
private final class RulePage(activity: RuleActivity) extends TabPage {
  import RulePage._

  override def of(parameter: String => Option[String], link: String => String): (String, Seq[Node]) =
    parameter("run").flatMap(_.toLongOption) match {
      case Some(id) => activity.runs.find(_.id == id).flatMap(run => run.report.map(ofRun(run, _, link)))
          .getOrElse(("Rules", <p>This run is no longer remembered. <a href={link("/rules/")}>All rules</a></p>))
      case None => ("Rules", ofAll(link))
    }

  private def ofAll(link: String => String): Seq[Node] = {
    val runs = activity.runs.reverseIterator.flatMap(run => run.report.map((run, _))).take(MostRuns).toSeq
    val sets = activity.totals.sortBy(_.ruleSet).map(own => (own, own.report(MostNamed)))
    <p>What the rules of this application have matched. The counts are of the driver&#39;s memory: they start with the
      application, and each row of a query counts once.</p>
    <h4>Rule sets</h4> ++
      table(Seq("Rule set", "Newest version", "Queries", "Rows", "Matches", "Errors", "Rules", "Never matched",
        "Time to match", "Most matches"), sets.map { case (own, report) =>
        Seq(text(own.ruleSet), number(own.version), number(own.runs)) ++ sums(report) :+ named(report)
      }) ++
      <h4>Queries and micro-batches</h4> ++
      table(Seq("Run", "Version", "Query", "Started", "Rows", "Matches", "Errors", "Rules", "Never matched",
        "Time to match", "Most matches"), runs.map { case (run, report) =>
        Seq(
          cell(<a href={link(s"/rules/?run=${run.id}")}>{run.id.toString}</a>, Some(run.id)),
          <td class="text-nowrap">{run.version.toString}</td>,
          cell(queryOf(run, link)), cell(Text(date(run.started)), Some(run.started))) ++ sums(report) :+ named(report)
      }) ++
      (if (runs.length == MostRuns) <p>Older ones are not shown.</p> else Nil)
  }

  private def ofRun(run: MatchRun, report: RuleReport, link: String => String): (String, Seq[Node]) = {
    val shown = report.counts.take(MostRules)
    val summary = Seq[(String, Seq[Node])](
      "Query" -> queryOf(run, link), "Started" -> Text(date(run.started)),
      "Rows" -> Text(f"${report.rows}%,d"), "Matches" -> Text(f"${report.matches}%,d"),
      "Values that failed" -> Text(f"${report.errors}%,d"),
      "Rules" -> Text(f"${report.rules}%,d, of which ${report.rules - report.rulesHit}%,d matched nothing"),
      "Time to match" -> Text(duration(report.nanoseconds)))
    val content =
      <p><a href={link("/rules/")}>All rules</a></p>
      <ul class="list-unstyled">{
        summary.map { case (name, value) => <li><strong>{name}: </strong>{value}</li> }
      }</ul> ++
        table(Seq("Rule", "Matches", "Of all rows", "Errors", "Of the time"), shown.map { count =>
          Seq(
            text(count.id), number(count.hits), bar(count.hits.toDouble / math.max(report.rows, 1)),
            number(count.errors), bar(report.share(count)))
        }) ++
        <p>{if (shown.length < report.counts.length) f"The first ${shown.length}%,d. " else ""}The time of a value that
        several rules need is divided among them. The time of the index, which all rules share, belongs to none.</p>
    (s"Rules ${run.version}", content)
  }

  private def queryOf(run: MatchRun, link: String => String): Seq[Node] = {
    val sql = run.execution.toSeq.map(id => <a href={link(s"/SQL/execution/?id=$id")}>{s"SQL query $id"}</a>)
    val stream = run.stream.toSeq.map { case (query, batch) => <span>, batch {batch.toString} of stream {query}</span> }
    val name = run.observe.toSeq.map(name => <span>, observed as {shortened(name)}</span>)
    if (sql.isEmpty) <span>outside of SQL</span> ++ stream ++ name else sql ++ stream ++ name
  }
}

private object RulePage {
  private val MostRuns = 200
  private val MostRules = 1000
  private val MostNamed = 3
  private val LongestText = 120

  private def table(header: Seq[String], rows: Seq[Seq[Node]]): Seq[Node] =
    <table class="table table-bordered table-sm table-striped table-hover sortable">
      <thead><tr>{header.map(name => <th>{name}</th>)}</tr></thead>
      <tbody>{rows.map(row => <tr>{row}</tr>)}</tbody>
    </table>

  private def sums(report: RuleReport): Seq[Node] = Seq(
    number(report.rows), number(report.matches), number(report.errors), number(report.rules.toLong),
    number((report.rules - report.rulesHit).toLong), cell(Text(duration(report.nanoseconds)), Some(report.nanoseconds)))

  private def named(report: RuleReport): Node = {
    val first = report.counts.filter(_.hits > 0).sortBy(-_.hits).take(MostNamed)
    cell(first.zipWithIndex.flatMap { case (count, i) =>
      Seq(if (i > 0) Text(", ") else Text(""), isolated(count.id), Text(f" ${count.hits}%,d"))
    })
  }

  /** @param key what the table is sorted by, if not by the text */
  private def cell(content: Seq[Node], key: Option[Long] = None): Node =
    key.fold(<td>{content}</td>)(key => <td sorttable_customkey={key.toString}>{content}</td>)

  private def number(value: Long): Node =
    <td class="text-end" sorttable_customkey={value.toString}>{f"$value%,d"}</td>

  private def text(value: String): Node = <td>{isolated(value)}</td>

  // What is written from right to left changes nothing around it.
  private def isolated(value: String): Node = <bdi style="overflow-wrap: anywhere">{shortened(value)}</bdi>

  private def shortened(value: String): String = {
    val length = value.codePointCount(0, value.length)
    if (length <= LongestText) value else value.substring(0, value.offsetByCodePoints(0, LongestText)) + "…"
  }

  private def bar(share: Double): Node = {
    val percent = f"${100 * math.min(share, 1.0)}%.1f %%"
    <td sorttable_customkey={share.toString} style="min-width: 12em">
      <div class="d-flex align-items-center"><span class="text-end" style="width: 4.5em">{percent}</span><progress
        class="ms-2 flex-grow-1" max="1" value={share.toString}></progress></div>
    </td>
  }

  private def duration(nanoseconds: Long): String =
    if (nanoseconds < 1000000000L) f"${nanoseconds / 1e6}%,.0f ms" else f"${nanoseconds / 1e9}%,.1f s"

  private def date(milliseconds: Long): String = f"${new Date(milliseconds)}%tF ${new Date(milliseconds)}%tT"
}
