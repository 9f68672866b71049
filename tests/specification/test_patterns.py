"""The specification of patterns gives the answers of the thesis, and those that the definitions spell out."""

from __future__ import annotations

from tests.specification.patterns import Event, Pattern, Term, detections, in_order, reported

A, B, AB = 1, 2, 3


def pattern(kind: str, steps: int = 2, **fields: object) -> Pattern:
    return Pattern("p", kind, tuple((Term(str(step)),) for step in range(steps)), **fields)  # type: ignore[arg-type]


def ends(own: Pattern, *events: tuple[int, int], last: int | None = None) -> list[int]:
    ordered = [Event(time, None, steps) for time, steps in events]
    return [found.end for found in detections(own, ordered, ordered[-1].time if last is None else last)]


def test_notified_when_it_becomes_true() -> None:
    """Section 2.3.1: `IBM > 30` over 29, 31, 35, 28, 32. A NULL is no event: it neither notifies nor resets."""
    change = pattern("change")
    assert ends(change, *((time, A if price > 30 else B) for time, price in enumerate([29, 31, 35, 28, 32]))) == [1, 4]
    assert ends(change, (0, A), (2, A), (4, B), (6, A)) == [0, 6]


def test_one_after_the_other_within_a_span() -> None:
    own = pattern("sequence", within=3)
    assert ends(own, (0, A), (3, B)) == [3]
    assert ends(own, (0, A), (4, B)) == []
    assert ends(own, (0, A), (0, B)) == []
    assert ends(own, (0, AB)) == []
    assert ends(own, (0, AB), (1, AB), (2, AB)) == [1]
    assert ends(pattern("sequence", within=3, overlapping=True), (0, AB), (1, AB), (2, AB)) == [1, 2]
    assert ends(pattern("sequence", within=9, after=4), (0, A), (3, A), (5, B)) == [5]


def test_in_any_order() -> None:
    own = pattern("together", within=3)
    assert ends(own, (0, B), (3, A), (4, B)) == [3]
    assert ends(own, (0, AB)) == [0]
    assert ends(pattern("together", within=3, overlapping=True), (0, B), (3, A), (4, A), (5, B)) == [3, 5]


def test_so_many() -> None:
    own = pattern("count", 1, within=3, at_least=2)
    assert ends(own, (0, A), (4, A), (5, A), (6, A)) == [5]
    values = [Event(0, None, A, "x"), Event(1, None, A, "x"), Event(2, None, A, None), Event(3, None, A, "y")]
    (found,) = detections(pattern("count", 1, within=3, at_least=2, distinct="v"), values, 3)
    assert (found.start, found.end, [event.time for _, event in found.rows]) == (1, 3, [1, 3])


def test_what_does_not_follow() -> None:
    own = pattern("absence", within=3)
    assert ends(own, (0, A), (3, B)) == []
    assert ends(own, (0, A), (4, B)) == [3]
    assert ends(own, (0, A), last=2) == []
    assert ends(own, (0, A), last=3) == [3]
    assert ends(own, (0, AB), (1, AB), last=9) == [4]
    assert ends(own, (0, A), (1, A), (4, A), last=9) == [3, 7]


def test_what_is_suppressed_is_counted() -> None:
    own = pattern("match", 1, suppress=3)
    events = [Event(time, None, A) for time in (0, 1, 2, 3, 5)]
    found = [(kind, detected.start, detected.end, detected.count) for kind, detected in reported(own, events, 5)]
    assert found == [("match", 0, 0, 1), ("suppressed", 1, 2, 2), ("match", 3, 3, 1), ("suppressed", 5, 5, 1)]
    assert len(reported(own, events, 4)) == 3


def test_the_order_of_events_of_one_time() -> None:
    events = [
        Event(1, "é", 1),
        Event(1, "z", 1),
        Event(1, "", 1),
        Event(1, None, 2),
        Event(1, None, 1),
        Event(0, "z", 1),
    ]
    assert in_order(events) == [events[5], events[4], events[3], events[2], events[1], events[0]]
