"""The owner of a subscription can renew or cancel it with its ticket, and only with it."""

from __future__ import annotations

import logging
import stat
import threading
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from sparkrules import RuleSet
from sparkrules.errors import RuleSetError, StoreError, UnknownId, UnknownOrOwned, WrongTicket
from sparkrules.rules import bulk
from sparkrules.store import Store, tickets
from sparkrules.store.tickets import KEY_FILE, read_key, shared_key, ticket_hash

LATER = datetime(2099, 1, 1, tzinfo=timezone.utc)


@pytest.fixture(params=["waiting", "published", "loaded", "loaded from a large set"])
def owned(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[RuleSet, str]:
    """A rule set with a subscription `mine` that has a ticket, and one that has none, and the ticket."""
    rules = RuleSet("alerts")
    if "large" in request.param:
        rules.subscribe_all((f"r{number}", f"a = {number}") for number in range(2_000))
    ticket = rules.subscribe("mine", "a = 1 AND b = 2", priority=3, metadata={"owner": "me"}, ticket=True)
    rules.subscribe("theirs", "a = 2")
    if request.param != "waiting":
        rules.store = tmp_path
        rules.publish()
    return (RuleSet.load("alerts", tmp_path) if "loaded" in request.param else rules), ticket


def counted(monkeypatch: pytest.MonkeyPatch, place: Any, name: str) -> list[object]:
    """The calls of a function from now on, which goes on doing what it does."""
    calls: list[object] = []
    function = getattr(place, name)

    def recorded(*arguments: object, **named: object) -> object:
        calls.append(arguments)
        return function(*arguments, **named)

    monkeypatch.setattr(place, name, recorded)
    return calls


class TestCancelling:
    def test_with_the_ticket(self, owned: tuple[RuleSet, str], tmp_path: Path) -> None:
        rules, ticket = owned
        rules.unsubscribe("mine", ticket=ticket)
        assert "mine" not in rules
        rules.store = tmp_path
        rules.publish()
        assert "mine" not in RuleSet.load("alerts", tmp_path)

    def test_not_without_it(self, owned: tuple[RuleSet, str]) -> None:
        rules, ticket = owned
        for wrong in ("", "guessed", ticket[:-1], ticket + "x", "\ud800"):
            with pytest.raises(WrongTicket, match=r"^this is not the ticket of rule 'mine' in rule set 'alerts'$"):
                rules.unsubscribe("mine", ticket=wrong)
        with pytest.raises(
            WrongTicket,
            match="has no rule 'mine' that can be removed without a ticket: give that, or force=True",
        ):
            rules.unsubscribe("mine")
        with pytest.raises(WrongTicket, match="'mine'"):
            rules.unsubscribe_all(["theirs", "mine"])
        assert {"mine", "theirs"} <= set(rules.subscriptions)

    def test_by_force(self, owned: tuple[RuleSet, str]) -> None:
        rules, _ = owned
        rules.unsubscribe("mine", force=True)
        assert "mine" not in rules

    def test_many_by_force(self, owned: tuple[RuleSet, str]) -> None:
        rules, _ = owned
        assert rules.unsubscribe_all(["theirs", "mine"], force=True) == 2

    def test_a_ticket_opens_nothing_else_and_an_error_does_not_tell_what_there_is(
        self, owned: tuple[RuleSet, str]
    ) -> None:
        rules, ticket = owned
        for id in ("theirs", "nobody's"):
            with pytest.raises(WrongTicket, match=f"^this is not the ticket of rule [\"']{id}"):
                rules.unsubscribe(id, ticket=ticket)
        with pytest.raises(UnknownId):
            rules.unsubscribe("nobody's")
        with pytest.raises(UnknownId):
            rules.unsubscribe("nobody's", force=True)
        rules.unsubscribe("theirs")

    def test_a_failure_is_logged_without_the_secret(
        self, owned: tuple[RuleSet, str], caplog: pytest.LogCaptureFixture
    ) -> None:
        rules, ticket = owned
        with caplog.at_level(logging.WARNING, "sparkrules.tickets"), pytest.raises(WrongTicket):
            rules.unsubscribe("theirs", ticket=ticket)
        assert caplog.messages == ["wrong ticket for rule 'theirs' of rule set 'alerts'"]
        assert ticket not in caplog.text

    def test_the_same_work_is_done_whatever_there_is(
        self, owned: tuple[RuleSet, str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        rules, _ = owned
        compared = counted(monkeypatch, tickets.hmac, "compare_digest")
        hashed = counted(monkeypatch, tickets.hmac, "new")
        counts = []
        for id in ("mine", "theirs", "nobody"):
            with pytest.raises(WrongTicket):
                rules.unsubscribe(id, ticket="guessed")
            counts.append((len(compared), len(hashed)))
            compared.clear()
            hashed.clear()
        assert len(set(counts)) == 1


class TestWithoutTheTicket:
    """Other ways to the same end."""

    @pytest.fixture
    def history(self, tmp_path: Path) -> tuple[RuleSet, str]:
        """Version 1 has `free`, 2 has `mine` with a ticket as well, 3 has no `mine` any more."""
        rules = RuleSet("alerts")
        rules.subscribe("free", "a = 1")
        rules.store = tmp_path
        rules.publish()
        ticket = rules.subscribe("mine", "a = 2", ticket=True)
        rules.publish()
        rules.unsubscribe("mine", ticket=ticket)
        rules.publish(merge="none")
        return rules, ticket

    def test_a_rollback_neither_revives_nor_removes(self, history: tuple[RuleSet, str], tmp_path: Path) -> None:
        rules, ticket = history
        texts = set()
        for wrong in ([], ["guessed"], [""]):
            for rollback in (
                rules.rollback,
                lambda version, **named: Store(tmp_path).rollback("alerts", version, **named),
            ):
                with pytest.raises(WrongTicket) as caught:
                    rollback(2, tickets=wrong)
                texts.add(str(caught.value))
        assert len(texts) == 1
        assert "mine" not in texts.pop()
        assert Store(tmp_path).versions("alerts") == [1, 2, 3]
        assert rules.rollback(2, tickets=["another", ticket]) == 4
        with pytest.raises(WrongTicket):
            rules.rollback(1)
        with pytest.raises(RuleSetError, match="several"):
            rules.rollback(1, tickets=ticket)
        assert rules.rollback(1, force=True) == 5
        assert rules.rollback(3) == 6

    def test_a_rollback_does_not_shorten_what_was_renewed(self, history: tuple[RuleSet, str]) -> None:
        rules, ticket = history
        rules.rollback(2, tickets=[ticket])
        rules.renew("mine", ticket, LATER)
        rules.publish()
        with pytest.raises(WrongTicket):
            rules.rollback(2)
        rules.rollback(2, tickets=[ticket])

    def test_a_rollback_from_a_damaged_version(self, history: tuple[RuleSet, str], tmp_path: Path) -> None:
        assert len(history[0]) == 1
        (tmp_path / "alerts" / "versions" / "3.json").write_text("{")
        with pytest.raises(StoreError, match=r"3\.json is not a manifest"):
            Store(tmp_path).rollback("alerts", 1)
        assert Store(tmp_path).rollback("alerts", 1, force=True) == 4

    def test_without_a_single_ticket_damage_is_no_obstacle(self, tmp_path: Path) -> None:
        rules = RuleSet("alerts")
        for id in ("a", "b"):
            rules.subscribe(id, "a = 1")
            rules.store = tmp_path
            rules.publish()
        (tmp_path / "alerts" / "versions" / "2.json").write_text("{")
        assert Store(tmp_path).rollback("alerts", 1) == 3

    def test_a_rule_set_made_anew_does_not_replace_it(self, history: tuple[RuleSet, str], tmp_path: Path) -> None:
        rules, ticket = history
        rules.rollback(2, tickets=[ticket])
        for texts in ({"free": "a = 1"}, {"mine": "a = 2"}, {"free": "a = 1", "mine": "a = 2"}):
            anew = RuleSet("alerts")
            anew.subscribe_all(texts)
            anew.store = tmp_path
            with pytest.raises(WrongTicket, match="publish with force=True"):
                anew.publish()
        assert set(RuleSet.load("alerts", tmp_path).subscriptions) == {"free", "mine"}
        anew.publish(force=True)
        RuleSet.load("alerts", tmp_path).unsubscribe("mine")

    def test_an_old_version_that_is_loaded_and_published_revives_nothing(
        self, history: tuple[RuleSet, str], tmp_path: Path
    ) -> None:
        old = RuleSet.load("alerts", tmp_path, version=2)
        old.subscribe("new", "a = 3")
        old.publish()
        assert set(RuleSet.load("alerts", tmp_path).subscriptions) == {"free", "new"}

    def test_the_same_is_said_of_an_unknown_id(self, owned: tuple[RuleSet, str]) -> None:
        rules, _ = owned
        texts = set()
        for id in ("mine", "nobody"):
            with pytest.raises(UnknownOrOwned) as caught:
                rules.unsubscribe(id)
            texts.add(str(caught.value).replace(id, "..."))
            with pytest.raises(UnknownOrOwned) as caught:
                rules.unsubscribe_all(["theirs", id])
            texts.add(str(caught.value).replace(id, "..."))
        assert len(texts) == 1
        with pytest.raises(UnknownOrOwned, match="no rules 'mine', 'nobody' that"):
            rules.unsubscribe_all(["mine", "theirs", "nobody"])


class TestRenewing:
    def test_the_rule_stays_what_it_is_and_is_not_parsed_again(
        self, owned: tuple[RuleSet, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        rules, ticket = owned
        before = rules.subscriptions["mine"]
        parsed = counted(monkeypatch, bulk, "read_rule")
        rules.renew("mine", ticket, LATER)
        assert parsed == []
        for _ in range(2):
            after = rules.subscriptions["mine"]
            assert after.valid_until == LATER
            assert (after.where, after.tree, after.priority, after.metadata, after.valid_from) == (
                before.where, before.tree, before.priority, before.metadata, None
            )  # fmt: skip
            rules.store = tmp_path
            rules.publish()
            rules = RuleSet.load("alerts", tmp_path)
        assert len(rules) in (2, 2_002)

    def test_the_ticket_stays_good(self, owned: tuple[RuleSet, str], tmp_path: Path) -> None:
        rules, ticket = owned
        rules.renew("mine", ticket, LATER)
        rules.renew("mine", ticket, LATER + timedelta(days=1))
        rules.store = tmp_path
        rules.publish(merge="all")
        loaded = RuleSet.load("alerts", tmp_path)
        loaded.renew("mine", ticket, LATER + timedelta(days=2))
        loaded.publish()
        RuleSet.load("alerts", tmp_path).unsubscribe("mine", ticket=ticket)

    def test_not_with_another_ticket(self, owned: tuple[RuleSet, str]) -> None:
        rules, ticket = owned
        for id in ("theirs", "nobody"):
            with pytest.raises(WrongTicket):
                rules.renew(id, ticket, LATER)
        with pytest.raises(WrongTicket):
            rules.renew("mine", "guessed", LATER)
        assert rules.subscriptions["mine"].valid_until is None

    def test_only_until_a_time_to_come(self, owned: tuple[RuleSet, str]) -> None:
        rules, ticket = owned
        with pytest.raises(RuleSetError, match="in the future"):
            rules.renew("mine", ticket, datetime.now(timezone.utc) - timedelta(seconds=1))
        with pytest.raises(RuleSetError, match="in the future"):
            rules.renew("mine", ticket, None)  # type: ignore[arg-type]
        with pytest.raises(RuleSetError, match="has no time zone"):
            rules.renew("mine", ticket, LATER.replace(tzinfo=None))


class TestTheStore:
    def test_it_has_only_a_keyed_hash(self, tmp_path: Path) -> None:
        rules = RuleSet("alerts")
        ticket = rules.subscribe("mine", "a = 1", ticket=True)
        rules.store = tmp_path
        rules.publish()
        key = read_key(tmp_path / "alerts")
        assert key is not None
        _, (segment,) = Store(tmp_path).load("alerts")
        assert segment.rules.ticket.tolist() == [ticket_hash(key, ticket)]
        assert not any(ticket.encode() in file.read_bytes() for file in tmp_path.rglob("*") if file.is_file())

    def test_the_key_is_for_its_owner_only(self, tmp_path: Path) -> None:
        assert len(shared_key(tmp_path / "alerts")) == 32
        assert stat.S_IMODE((tmp_path / "alerts" / KEY_FILE).stat().st_mode) == 0o600
        assert [file.name for file in (tmp_path / "alerts").iterdir()] == [KEY_FILE]

    def test_publishers_at_once_share_one_key(self, tmp_path: Path) -> None:
        keys: list[bytes] = []
        threads = [threading.Thread(target=lambda: keys.append(shared_key(tmp_path))) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(keys) == 8
        assert set(keys) == {read_key(tmp_path)}

    def test_rule_sets_without_tickets_have_no_key(self, tmp_path: Path) -> None:
        rules = RuleSet("alerts")
        rules.subscribe("a", "a = 1")
        rules.store = tmp_path
        rules.publish()
        assert not (tmp_path / "alerts" / KEY_FILE).exists()

    def test_tickets_stay_good_in_a_second_store(self, tmp_path: Path) -> None:
        rules = RuleSet("alerts")
        ticket = rules.subscribe("mine", "a = 1", ticket=True)
        rules.store = tmp_path / "one"
        rules.publish()
        rules.store = tmp_path / "two"
        rules.publish()
        for store in ("one", "two"):
            RuleSet.load("alerts", tmp_path / store).unsubscribe("mine", ticket=ticket)

    def test_a_store_with_another_key_is_refused(self, tmp_path: Path) -> None:
        for store in ("one", "two"):
            rules = RuleSet("alerts")
            rules.subscribe("mine", "a = 1", ticket=True)
            rules.store = tmp_path / store
            rules.publish()
        rules.store = tmp_path / "one"
        with pytest.raises(StoreError, match=r"another key than .*tickets\.key"):
            rules.publish()

    def test_a_rule_set_made_anew_uses_the_key_that_is_there(self, tmp_path: Path) -> None:
        for _ in range(2):
            rules = RuleSet("alerts")
            ticket = rules.subscribe("mine", "a = 1", ticket=True)
            rules.store = tmp_path
            rules.publish(force=True)
        RuleSet.load("alerts", tmp_path).unsubscribe("mine", ticket=ticket)

    def test_a_damaged_key_is_named(self, tmp_path: Path) -> None:
        rules = RuleSet("alerts")
        ticket = rules.subscribe("mine", "a = 1", ticket=True)
        rules.store = tmp_path
        rules.publish()
        file = tmp_path / "alerts" / KEY_FILE
        whole = file.read_bytes()
        flipped = [whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :] for at in range(len(whole))]
        for damage in (b"short", whole + b"\0", whole[:-1], *flipped):
            file.write_bytes(damage)
            with pytest.raises(StoreError, match=r"tickets\.key is damaged"):
                rules.unsubscribe("mine", ticket=ticket)
        file.write_bytes(whole[:32])  # as older versions of sparkrules wrote it
        rules.unsubscribe("mine", ticket=ticket)

    def test_the_key_of_another_rule_set_is_refused(self, tmp_path: Path) -> None:
        for name in ("alerts", "alarms"):
            rules = RuleSet(name)
            ticket = rules.subscribe("mine", "a = 1", ticket=True)
            rules.store = tmp_path
            rules.publish()
        (tmp_path / "alarms" / KEY_FILE).write_bytes((tmp_path / "alerts" / KEY_FILE).read_bytes())
        with pytest.raises(StoreError, match=r"tickets\.key is damaged, or of another rule set"):
            rules.unsubscribe("mine", ticket=ticket)


def test_no_two_tickets_are_the_same() -> None:
    rules = RuleSet("alerts")
    tickets = {rules.subscribe(f"r{number}", "a = 1", ticket=True) for number in range(100)}
    assert len(tickets) == 100
    assert all(len(ticket) == 64 for ticket in tickets)  # 32 bytes
