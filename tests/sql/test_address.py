"""Addresses and networks: Python's `ipaddress` says which texts are addresses, and in which networks."""

from __future__ import annotations

import random
from ipaddress import ip_address, ip_network
from pathlib import Path

import pyarrow as pa
import pytest

from sparkrules import RuleSet
from sparkrules.sql import RuleError, parse_rule
from sparkrules.sql.address import address_key, network_range
from sparkrules.sql.tree_sql import tree_sql
from tests.sql.address_texts import ODD, is_within, random_network, random_text


@pytest.mark.parametrize("seed", range(8))
def test_an_address_lies_between_the_ends_of_the_networks_that_contain_it(seed: int) -> None:
    chance = random.Random(seed)
    inside = 0
    for _ in range(60):
        network = random_network(chance)
        first, last = network_range(str(network))
        assert (first, last) == (address_key(str(network[0])), address_key(str(network[-1])))
        for text in [*(random_text(network, chance) for _ in range(60)), *ODD]:
            assert (first <= address_key(text) <= last) == is_within(text, network), (text, network)
            inside += is_within(text, network)
    assert inside > 1_000


def test_what_is_no_address_has_an_empty_key() -> None:
    def is_address(text: str) -> bool:
        try:
            return bool(ip_address(text))
        except ValueError:
            return False

    assert [text for text in ODD if (address_key(text) != "") != is_address(text)] == []


@pytest.mark.parametrize(
    "text", ["10.0.0.0/33", "10.0.0.1/8", "::1/127", "10.0.0.0/", "10.0.0.0/-1", "x", "", "10.0.0.0/8 "]
)
def test_what_python_does_not_accept_is_no_network(text: str) -> None:
    with pytest.raises(ValueError, match=r"IP|host bits|ermitted|network"):
        ip_network(text)
    with pytest.raises(ValueError, match=r"not a network|prefix length|bits of a host"):
        network_range(text)


@pytest.mark.parametrize("text", ["10.0.0.0/255.0.0.0", "fe80::%eth0/10", "fe80::/10%eth0", "10.0.0.0/8/8"])
def test_a_network_is_an_address_and_a_prefix_length(text: str) -> None:
    with pytest.raises(ValueError, match=r"not a network|prefix length"):
        network_range(text)


def test_a_rule_with_a_wrong_network_is_rejected_with_the_place() -> None:
    with pytest.raises(RuleError, match=r"bits of a host: the network is 10\.0\.0\.0/8 at line 1, column 25"):
        parse_rule("a = 1 AND cidr_contains('10.0.0.1/8', ip)")
    with pytest.raises(RuleError, match="not a network such as"):
        parse_rule("NOT cidr_contains('evil', ip)")


def test_networks_are_predicates_of_the_address() -> None:
    tree = parse_rule("NOT (cidr_contains('10.0.0.0/8', addr.ip) OR cidr_contains(net, ip))")
    assert str(tree) == "addr.ip not in network '10.0.0.0/8' and cidr_contains(net, ip) is false"
    assert parse_rule(tree_sql(tree)) == tree
    assert str(parse_rule("cidr_contains(NULL, ip)")) == "cidr_contains(NULL, ip) is true"


def test_of_many_texts_that_differ_in_the_network_only_the_wrong_ones_are_rejected() -> None:
    rules = RuleSet("networks")
    wrong = {7: "10.0.0.1/8", 150: "oops", 299: "1.2.3.4/33"}
    texts = {
        f"r{number}": f"a > {number} AND cidr_contains('{wrong.get(number, f'10.{number % 250}.0.0/16')}', ip)"
        for number in range(300)
    }
    assert rules.subscribe_all(texts) == 297
    assert {own.id for own in rules.rejected} == {f"r{number}" for number in wrong}
    assert all(own.column for own in rules.rejected)
    assert str(rules.subscriptions["r3"].tree) == "a > 3 and ip in network '10.3.0.0/16'"


def test_the_local_matcher_finds_the_networks_of_an_address() -> None:
    chance = random.Random(5)
    networks = {f"n{number}": random_network(chance) for number in range(80)}
    texts = [*(random_text(chance.choice(list(networks.values())), chance) for _ in range(300)), *ODD, None]
    rules = RuleSet("networks")
    for id, network in networks.items():
        rules.subscribe(id, f"cidr_contains('{network}', ip)")
        rules.subscribe(f"not {id}", f"NOT cidr_contains('{network}', ip)")
    found = rules.match(pa.table({"ip": pa.array(texts)})).ids.to_pylist()
    wanted = [
        set() if text is None else {id if is_within(text, network) else f"not {id}" for id, network in networks.items()}
        for text in texts
    ]
    assert [set(ids) for ids in found] == wanted
    assert sum(not id.startswith("not") for ids in wanted for id in ids) > 500


def test_a_version_with_networks_has_a_format_that_older_readers_reject(tmp_path: Path) -> None:
    rules = RuleSet("networks", store=tmp_path)
    rules.subscribe("plain", "a > 1")
    rules.publish()
    rules.subscribe("in", "cidr_contains('10.0.0.0/8', ip)")
    rules.publish()
    rules.subscribe("more", "a > 2")
    rules.publish()
    again = RuleSet.load("networks", store=tmp_path)
    assert [manifest.format for manifest in again.versions()] == [3, 5, 5]
    assert str(again.subscriptions["in"].tree) == "ip in network '10.0.0.0/8'"
    again.unsubscribe("in")
    again.publish(merge="all")
    assert again.versions()[-1].format == 3
