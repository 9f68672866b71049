"""What is found in the events of one pattern and one key: a state machine for each kind.

Each function takes the events in order and gives what it finds, by time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from sparkrules.local.pattern_events import Event
from sparkrules.patterns import Pattern

Row = tuple[int, Event]


@dataclass(frozen=True, slots=True)
class Found:
    """What was found: from when to when, how many rows it is made of, and these with their steps, from 1."""

    start: int
    end: int
    count: int
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class _Chain:
    """Events that fulfil the first steps one after the other, linked backwards. `start` is the time of the first."""

    start: int
    event: Event
    before: _Chain | None = None

    def rows(self) -> tuple[Row, ...]:
        events = []
        chain: _Chain | None = self
        while chain is not None:
            events.append(chain.event)
            chain = chain.before
        return tuple(enumerate(reversed(events), start=1))


class _Chains:
    """The chains of so many steps, by ascending start.

    A chain that started `after` ago or earlier can be completed at any time, and so the last of them is the best. Of
    the younger ones it is not known which will be: all are kept, at most `most` of them.
    """

    def __init__(self, after: int, most: int) -> None:
        self.after = after
        self.most = most
        self.kept: list[_Chain] = []

    def add(self, made: _Chain, now: int) -> None:
        """Add a chain, unless there is one that started at the same time, or a better one."""
        place = len(self.kept)
        while place and self.kept[place - 1].start > made.start:
            place -= 1
        if place and self.kept[place - 1].start == made.start:
            return
        if place < len(self.kept) and now - self.kept[place].start >= self.after:
            return
        self.kept.insert(place, made)
        self.shrink(now)

    def shrink(self, now: int) -> None:
        old = sum(now - own.start >= self.after for own in self.kept)
        if old > 1:
            del self.kept[: old - 1]
        young = len(self.kept) - min(old, 1)
        if young > self.most:
            del self.kept[min(old, 1)]

    def best(self, now: int) -> _Chain | None:
        """The chain that can be completed now and started last."""
        return next((own for own in reversed(self.kept) if now - own.start >= self.after), None)


def sequences(pattern: Pattern, events: Iterable[Event], most: int) -> Iterator[Found]:
    """Chains of all steps. Each row is later than the one before, so rows of one time are taken together."""
    steps, after, within = len(pattern.steps), pattern.after or 0, pattern.within or 0
    chains = [_Chains(after, most) for _ in range(steps - 1)]
    new: list[tuple[int, _Chain]] = []  # made at the current time, which later events continue
    now = None
    for event in events:
        if event.time != now:
            for step, made in new:
                chains[step].add(made, made.event.time)
            new.clear()
            now = event.time
        if event.fulfils(steps - 1):
            best = chains[-1].best(now)
            if best is not None and now - best.start <= within:
                yield Found(best.start, now, steps, _Chain(best.start, event, best).rows())
                if not pattern.overlapping:
                    new.clear()
                    for own in chains:
                        own.kept.clear()
                    continue
        for step in range(steps - 2, -1, -1):
            if not event.fulfils(step):
                continue
            if step == 0:
                new.append((0, _Chain(now, event)))
            else:
                new += [(step, _Chain(own.start, event, own)) for own in chains[step - 1].kept]


def together(pattern: Pattern, events: Iterable[Event]) -> Iterator[Found]:
    """The latest event of each step."""
    latest: dict[int, tuple[int, Event]] = {}
    for number, event in enumerate(events):
        latest |= {step: (number, event) for step in range(len(pattern.steps)) if event.fulfils(step)}
        if len(latest) < len(pattern.steps):
            continue
        start = min(own.time for _, own in latest.values())
        if event.time - start <= (pattern.within or 0):
            rows = tuple((step + 1, latest[step][1]) for step in range(len(pattern.steps)))
            yield Found(start, event.time, len({place for place, _ in latest.values()}), rows)
            if not pattern.overlapping:
                latest.clear()


def counts(pattern: Pattern, events: Iterable[Event]) -> Iterator[Found]:
    """The latest events, or of each distinct value the latest event."""
    wanted, by_value = pattern.at_least or 1, pattern.distinct is not None
    latest: dict[object, Event] = {}  # in order
    for number, event in enumerate(events):
        key = event.value if by_value else number
        latest.pop(key, None)
        latest[key] = event
        if len(latest) > wanted:
            del latest[next(iter(latest))]
        if len(latest) < wanted:
            continue
        rows = tuple(latest.values())
        if event.time - rows[0].time <= (pattern.within or 0):
            yield Found(rows[0].time, event.time, wanted, tuple((1, own) for own in rows))
            if not pattern.overlapping:
                latest.clear()


def absences(pattern: Pattern, events: Iterable[Event], last: int) -> Iterator[Found]:
    """Waits for the second step. One that is open at the `last` time is over if its deadline has come."""
    waiting: Event | None = None
    within = pattern.within or 0
    for event in events:
        if waiting is not None and event.time > waiting.time + within:
            yield Found(waiting.time, waiting.time + within, 1, ((1, waiting),))
            waiting = None
        if waiting is not None and event.fulfils(1) and event.time > waiting.time:
            waiting = None
        if waiting is None and event.fulfils(0):
            waiting = event
    if waiting is not None and waiting.time + within <= last:
        yield Found(waiting.time, waiting.time + within, 1, ((1, waiting),))


def changes(events: Iterable[Event]) -> Iterator[Found]:
    """When the rule becomes true."""
    was_true = False
    for event in events:
        if event.fulfils(0) and not was_true:
            yield Found(event.time, event.time, 1, ((1, event),))
        was_true = event.fulfils(0)


def matches(events: Iterable[Event]) -> Iterator[Found]:
    """Every event."""
    return (Found(event.time, event.time, 1, ((1, event),)) for event in events)


def found_in(pattern: Pattern, events: Iterable[Event], last: int, most: int) -> Iterator[tuple[str, Found]]:
    """What is reported until the `last` time, each with its kind: that of the pattern, or `suppressed`.

    `most` is how many chains a sequence keeps for a step.
    """
    found = _found(pattern, events, last, most)
    if pattern.suppress is None:
        yield from ((pattern.kind, own) for own in found)
        return
    until = None
    counted: list[Found] = []
    for own in found:
        if until is not None and own.end < until:
            counted.append(own)
            continue
        if counted:
            yield "suppressed", _summary(counted)
        yield pattern.kind, own
        until, counted = own.end + pattern.suppress, []
    if counted and until is not None and until <= last + 1:
        yield "suppressed", _summary(counted)


def _found(pattern: Pattern, events: Iterable[Event], last: int, most: int) -> Iterator[Found]:
    if pattern.kind == "sequence":
        return sequences(pattern, events, most)
    if pattern.kind == "together":
        return together(pattern, events)
    if pattern.kind == "count":
        return counts(pattern, events)
    if pattern.kind == "absence":
        return absences(pattern, events, last)
    return changes(events) if pattern.kind == "change" else matches(events)


def _summary(counted: list[Found]) -> Found:
    return Found(counted[0].end, counted[-1].end, len(counted), ())
