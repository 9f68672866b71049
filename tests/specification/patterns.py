"""What patterns mean, by brute force: for each event, is there what the definition asks for among the events before it?

Contract, and the definition that the whole project uses: detection without Spark and the plugin are tested against
these functions. The events of one pattern and one key are a list in order: by time, then id as string (NULL first),
then the steps as a bit mask, then the distinct value as string. An event is a detection of a

- sequence, if it fulfils the last step, and earlier events fulfil the others, each later than the one before; the last
  is at most `within` and at least `after` later than the first;
- together, if of each step the latest event up to it is at most `within` older;
- count, if the first of the latest `at_least` events, itself included, is at most `within` older; with `distinct`, of
  each value only the latest event counts;
- absence, if it fulfils the first step, no wait is open, and no event in the time `within` after it fulfils the second;
- change, if it fulfils the first step, and the event before it does not, or there is none;
- match, always.

Unless they are `overlapping`, the events up to a detection of a sequence, together or count are forgotten after it.

The thesis, section 2.3.1: a subscription to `IBM > 30` is notified when it becomes true, for 29, 31, 35, 28, 32 twice:

>>> change = Pattern("IBM > 30", "change", ((Term("x"),), (Term("y"),)))
>>> rising = [Event(time, None, 1 if price > 30 else 2) for time, price in enumerate([29, 31, 35, 28, 32])]
>>> [found.end for found in detections(change, rising, 4)]
[1, 4]
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, pairwise
from typing import NamedTuple

from sparkrules.patterns import Pattern, Term

__all__ = ["Detected", "Event", "Pattern", "Term", "detections", "in_order", "reported"]


class Event(NamedTuple):
    """A row that fulfils steps; bit 0 of `steps` is the first."""

    time: int
    id: str | None
    steps: int
    value: str | None = None


class Detected(NamedTuple):
    """A detection, with its rows as (step from 1, event)."""

    start: int
    end: int
    count: int
    rows: tuple[tuple[int, Event], ...]


def in_order(events: Sequence[Event]) -> list[Event]:
    """Events of one key in the order in which they are taken; NULL is before every string."""

    def text(value: str | None) -> tuple[bool, bytes]:
        return value is not None, (value or "").encode()

    return sorted(events, key=lambda own: (own.time, text(own.id), own.steps, text(own.value)))


def reported(pattern: Pattern, events: Sequence[Event], last: int) -> list[tuple[str, Detected]]:
    """The detections, each with its kind, of which `suppress` leaves out some: these are counted.

    The first opens a window; those whose end is in it are counted; the first after it opens the next.
    """
    left = list(detections(pattern, events, last))
    if pattern.suppress is None:
        return [(pattern.kind, own) for own in left]
    found = []
    while left:
        first, until = left[0], left[0].end + pattern.suppress
        counted = [own for own in left[1:] if own.end < until]
        left = [own for own in left[1:] if own.end >= until]
        found.append((pattern.kind, first))
        if counted and last >= until - 1:
            found.append(("suppressed", Detected(counted[0].end, counted[-1].end, len(counted), ())))
    return found


def detections(pattern: Pattern, events: Sequence[Event], last: int) -> Iterator[Detected]:
    """All detections among the events of one key, which are in order; `last` is the end of time."""
    if pattern.kind == "absence":
        yield from _absences(pattern, events, last)
        return
    at = {"sequence": _sequence, "together": _together, "count": _count, "change": _change, "match": _match}
    forgotten = 0
    for number in range(len(events)):
        found = at[pattern.kind](pattern, events[forgotten : number + 1])
        if found is not None:
            yield found
            if not pattern.overlapping and pattern.kind not in ("change", "match"):
                forgotten = number + 1


def fulfils(event: Event, step: int) -> bool:
    """Whether an event fulfils a step, counted from 0."""
    return bool(event.steps & (1 << step))


def _sequence(pattern: Pattern, events: Sequence[Event]) -> Detected | None:
    """Of all choices of earlier events: the latest first one, then each as early as can be."""
    *earlier, now = events
    steps, within = len(pattern.steps), pattern.within or 0
    if not fulfils(now, steps - 1):
        return None
    possible = [
        chosen
        for chosen in combinations(range(len(earlier)), steps - 1)
        if all(fulfils(earlier[place], step) for step, place in enumerate(chosen))
        and all(earlier[a].time < earlier[b].time for a, b in pairwise(chosen))
        and earlier[chosen[-1]].time < now.time
        and (pattern.after or 0) <= now.time - earlier[chosen[0]].time <= within
    ]
    if not possible:
        return None
    best = min(possible, key=lambda chosen: (-earlier[chosen[0]].time, chosen))
    rows = [*(earlier[place] for place in best), now]
    return Detected(rows[0].time, now.time, steps, tuple(enumerate(rows, start=1)))


def _together(pattern: Pattern, events: Sequence[Event]) -> Detected | None:
    now = events[-1]
    places = [
        max((place for place, own in enumerate(events) if fulfils(own, step)), default=None)
        for step in range(len(pattern.steps))
    ]
    latest = [place for place in places if place is not None and now.time - events[place].time <= (pattern.within or 0)]
    if len(latest) < len(places):
        return None
    rows = [events[place] for place in latest]
    return Detected(min(own.time for own in rows), now.time, len(set(latest)), tuple(enumerate(rows, start=1)))


def _count(pattern: Pattern, events: Sequence[Event]) -> Detected | None:
    now, wanted = events[-1], pattern.at_least or 0
    counted = list(range(len(events)))
    if pattern.distinct is not None:
        values = [own.value for own in events]
        counted = [place for place in counted if values[place] is not None and values[place] not in values[place + 1 :]]
        if now.value is None:
            return None
    if len(counted) < wanted:
        return None
    rows = [events[place] for place in counted[-wanted:]]
    if now.time - rows[0].time > (pattern.within or 0):
        return None
    return Detected(rows[0].time, now.time, wanted, tuple((1, own) for own in rows))


def _change(_pattern: Pattern, events: Sequence[Event]) -> Detected | None:
    *earlier, now = events
    if not fulfils(now, 0) or (earlier and fulfils(earlier[-1], 0)):
        return None
    return _match(_pattern, events)


def _match(_pattern: Pattern, events: Sequence[Event]) -> Detected | None:
    now = events[-1]
    return Detected(now.time, now.time, 1, ((1, now),))


def _absences(pattern: Pattern, events: Sequence[Event], last: int) -> Iterator[Detected]:
    """From one wait to the next: each ends with the first event that fulfils the second step, or at its deadline."""
    within = pattern.within or 0
    place = 0
    while True:
        opening = next((n for n in range(place, len(events)) if fulfils(events[n], 0)), None)
        if opening is None:
            return
        begin = events[opening].time
        ending = [
            n for n, own in enumerate(events) if fulfils(own, 1) and begin < own.time <= begin + within and n > opening
        ]
        if ending:
            place = ending[0]
            continue
        if begin + within <= last:
            yield Detected(begin, begin + within, 1, ((1, events[opening]),))
        place = next((n for n, own in enumerate(events) if own.time > begin + within), len(events))
