package sparkrules

import org.apache.spark.sql.{SparkSessionExtensions, SparkSessionExtensionsProvider}
import org.apache.spark.sql.classic.SparkSession

import sparkrules.catalog.KnownCatalog
import sparkrules.plan.{
  CountMatches, ForgottenTable, Functions, MatchStrategy, PinVersions, PluginClasses, PruneAnswers,
  PushFilterThroughMatch, PushScanFilter, ReadColumns
}

/** What the plugin adds to a session. Found by Spark through the ServiceLoader: `spark.jars` is enough. */
class SparkRulesExtension extends SparkSessionExtensionsProvider {
  override def apply(extensions: SparkSessionExtensions): Unit = {
    PluginClasses.load()
    Functions.scalars.foreach(extensions.injectFunction)
    Functions.tables.foreach(extensions.injectTableFunction)
    extensions.injectHintResolutionRule(session => KnownCatalog(session.asInstanceOf[SparkSession]))
    extensions.injectPostHocResolutionRule(_ => ForgottenTable)
    extensions.injectPlanNormalizationRule(session => PinVersions(session.asInstanceOf[SparkSession]))
    extensions.injectOptimizerRule(_ => PushFilterThroughMatch)
    extensions.injectOptimizerRule(_ => PruneAnswers)
    extensions.injectOptimizerRule(_ => CountMatches)
    extensions.injectOptimizerRule(session => PushScanFilter(session.asInstanceOf[SparkSession]))
    extensions.injectPlannerStrategy(_ => MatchStrategy)
    extensions.injectColumnar(_ => ReadColumns)
  }
}
