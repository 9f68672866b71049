package sparkrules.answer

import java.util.BitSet

import org.apache.spark.sparkrules.RuleError
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow
import org.apache.spark.sql.catalyst.util.ArrayData
import org.apache.spark.unsafe.types.UTF8String

import sparkrules.program.IdBuffer
import sparkrules.version.{OrderedMatches, RowMatches, VersionMatcher}

/**
 * Turns the matches of rows into the values of the wanted answers.
 *
 * @param matcher the matcher that finds them
 * @param areCopied whether the answers for a row are copied before those of the next are asked for
 */
final class Answers(matcher: VersionMatcher, request: AnswerRequest, areCopied: Boolean) {
  import request.answers

  private lazy val overlaps = new Overlaps(matcher, request.sharedNodes)
  private val needsIds = answers.contains(Answer.Ids) || answers.contains(Answer.Overlaps)
  private val needsPartners = answers.contains(Answer.Overlap)
  private val ofFields = answers.flatMap(_.fields).distinct.map(field => field -> request.values(field)).toMap
  private val version = request.rules.key.version.number
  private lazy val ranges = new Ranges(matcher.parts(0))
  // From the first row on.
  private val costs =
    if (!answers.contains(Answer.Costs)) Nil
    else matcher.parts.indices.map(p => new Costs(matcher.parts(p), matcher.rules.parts(p).forest))
  private val times = if (answers.contains(Answer.Times)) matcher.parts.toSeq.map(new Times(_)) else Nil
  private val result = new GenericInternalRow(answers.length)
  private val (buffer, overlapBuffer) = (new IdBuffer(isReused = areCopied), new IdBuffer(isReused = areCopied))

  /** The answers for a row; the same object each time, with new values. */
  def ofRow(found: RowMatches): InternalRow = {
    val matches = found.inOrder
    val ids = if (needsIds) matches.idArray(buffer) else null
    var i = 0
    while (i < answers.length) {
      result.update(i, answers(i) match {
        case Answer.Ids => ids
        case Answer.Overlaps =>
          overlaps.find(matches)
          IdsOfGroups.arrays(overlaps, ids, overlapBuffer)
        case Answer.Rows(_, of, _) => rows(matches, of)
        case Answer.Version => version
        case Answer.Errors => errors()
        case Answer.Ranges => ranges.ofRow()
        case Answer.Costs => StructArray.of(costs.flatMap(_.ofRow()))
        case Answer.Times => StructArray.of(times.flatMap(_.ofRow()))
        case other => throw new IllegalStateException(s"$other is of a match, not of a row")
      })
      i += 1
    }
    result
  }

  /** The answers for each match of a row; the same object each time. */
  def ofMatches(found: RowMatches): Iterator[InternalRow] = {
    val matches = found.inOrder
    val partners = if (needsPartners) partnersOf(matches) else Array.empty[Array[Int]]
    Iterator.range(0, matches.count).map { m =>
      var i = 0
      while (i < answers.length) {
        result.update(i, ofMatch(answers(i), matches, m, partners, buffer))
        i += 1
      }
      result
    }
  }

  private def ofMatch(
      answer: Answer, matches: OrderedMatches, m: Int, partners: Array[Array[Int]], buffer: IdBuffer): Any =
    answer match {
      case Answer.RuleId => matches.id(m)
      case Answer.Priority => matches.priority(m)
      case Answer.Overlap => matches.idArray(partners(m), buffer)
      case Answer.Field(field) => ofFields(field)(matches.part(m), matches.number(m))
      case Answer.Status(status) => UTF8String.fromString(status)
      case Answer.Version => version
      case other => throw new IllegalStateException(s"$other is of a row, not of a match")
    }

  private def errors(): ArrayData = {
    val found = for {
      p <- matcher.parts.indices
      part = matcher.parts(p)
      (rule, _, reason) <- part.errors.find(matcher.rules.parts(p).forest)
    } yield (matcher.place(p, rule), part.program.rules.ids(rule), RuleError.message(reason))
    StructArray.of(found.distinct.sortBy(_._1).map { case (_, id, message) =>
      InternalRow(id, UTF8String.fromString(message))
    })
  }

  private def rows(matches: OrderedMatches, of: Seq[Answer]): ArrayData = {
    val partners = if (of.contains(Answer.Overlap)) partnersOf(matches) else Array.empty[Array[Int]]
    val buffer = new IdBuffer(isReused = false)
    StructArray.of((0 until matches.count).map { m =>
      InternalRow.fromSeq(of.map(ofMatch(_, matches, m, partners, buffer)))
    })
  }

  /** Per match: the positions of the others that share a true subexpression. */
  private def partnersOf(matches: OrderedMatches): Array[Array[Int]] = {
    val partners = Array.fill(matches.count)(new BitSet)
    overlaps.find(matches)
    (0 until overlaps.count).foreach { group =>
      val (together, from) = (new BitSet, overlaps.start(group))
      val until = from + overlaps.size(group)
      (from until until).foreach(i => together.set(overlaps.members(i)))
      (from until until).foreach(i => partners(overlaps.members(i)).or(together))
    }
    Array.tabulate(partners.length) { i =>
      partners(i).clear(i)
      partners(i).stream.toArray
    }
  }
}
