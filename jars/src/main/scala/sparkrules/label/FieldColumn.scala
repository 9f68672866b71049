package sparkrules.label

import java.lang.ref.SoftReference

import scala.collection.mutable
import scala.jdk.CollectionConverters._
import scala.util.Try

import com.fasterxml.jackson.core.json.JsonReadFeature
import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}
import com.fasterxml.jackson.databind.json.JsonMapper
import org.apache.spark.unsafe.types.UTF8String

import sparkrules.conf.RulesException
import sparkrules.store.{SegmentEntry, Store}
import sparkrules.value.LruCache

/** What the rules of a segment have in a field: distinct values, and per rule which of them. */
final class FieldColumn(val values: Array[JsonNode], val codes: Array[Int])

object FieldColumn {
  /** The place of what stands for no value. */
  val Missing = 0

  // Python writes NaN and Infinity.
  private val mapper: ObjectMapper = JsonMapper.builder().enable(JsonReadFeature.ALLOW_NON_NUMERIC_NUMBERS).build()

  // Segments never change. What has been read is kept as long as there is memory.
  private val known = new LruCache[(String, String, String, String), SoftReference[FieldColumn]]
  private val Most = 64

  def of(store: Store, ruleSet: String, entry: SegmentEntry, field: String): FieldColumn = {
    val key = (store.root, ruleSet, entry.name, field)
    known.get(key).flatMap(found => Option(found.get)).getOrElse {
      val made = read(store, ruleSet, entry, field)
      known.put(key, new SoftReference(made))
      known.trim(Most)
      made
    }
  }

  private def read(store: Store, ruleSet: String, entry: SegmentEntry, field: String): FieldColumn = {
    val texts = store.metadata(ruleSet, entry)
    val values = mutable.LinkedHashMap[JsonNode, Int](mapper.missingNode -> Missing)
    val parsed = mutable.HashMap.empty[UTF8String, Int]
    val codes = texts.map { text =>
      if (text == null) Missing
      else parsed.getOrElseUpdate(text, {
        val value = Option(tree(store, ruleSet, entry, text).get(field)).filterNot(_.isNull)
        value.fold(Missing)(own => values.getOrElseUpdate(own, values.size))
      })
    }
    new FieldColumn(values.keysIterator.toArray, codes)
  }

  /** The names of all fields. */
  def names(store: Store, ruleSet: String, entry: SegmentEntry): Set[String] =
    store.metadata(ruleSet, entry).iterator.filter(_ != null).toSet.iterator
      .flatMap((text: UTF8String) => tree(store, ruleSet, entry, text).fieldNames.asScala).toSet

  private def tree(store: Store, ruleSet: String, entry: SegmentEntry, text: UTF8String): JsonNode =
    Try(mapper.readTree(text.getBytes)).getOrElse(throw new RulesException(
      s"${store.pathOf(ruleSet, entry.file("subscriptions"))} is damaged (its metadata is not JSON): publish the " +
        "rule set again."))
}
