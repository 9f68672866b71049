package org.apache.spark.sparkrules

import scala.xml.Node

import jakarta.servlet.http.HttpServletRequest

import org.apache.spark.SparkContext
import org.apache.spark.ui.{SparkUI, SparkUITab, UIUtils, WebUIPage}

/** A page of a tab, in terms of what is not Spark's own. */
trait TabPage {

  /**
   * The title, and what is below it.
   *
   * @param parameter the parameters of the request
   * @param link the address of a path of the Spark UI
   */
  def of(parameter: String => Option[String], link: String => String): (String, Seq[Node])
}

/** A tab of the Spark UI with one page. In Spark's package, as only there it can be made. */
private final class RulesTab(ui: SparkUI, page: TabPage) extends SparkUITab(ui, "rules") {
  private val tab = this

  attachPage(new WebUIPage("") {
    override def render(request: HttpServletRequest): Seq[Node] = {
      val (title, content) = page.of(
        name => Option(request.getParameter(name)), UIUtils.prependBaseUri(request, tab.basePath, _))
      UIUtils.headerSparkPage(request, title, content, tab)
    }
  })
}

object RulesTab {

  /** Adds the tab, if the application has a UI. */
  def attach(context: SparkContext, page: TabPage): Unit =
    context.ui.foreach(ui => ui.attachTab(new RulesTab(ui, page)))
}
