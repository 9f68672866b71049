"""A text matches the expression of a network exactly where Python's `ipaddress` reads an address in it."""

from __future__ import annotations

import random
import re
from ipaddress import IPv4Network, IPv6Address, IPv6Network, ip_address

import pytest

from sparkrules.sigma.network import network_regex


def _is_within(text: str, network: IPv4Network | IPv6Network) -> bool:
    try:
        return ip_address(text) in network
    except ValueError:
        return False


def _spelled(address: int, chance: random.Random) -> str:
    """One of the ways to write an address, or nearly one."""
    groups = [address >> shift & 0xFFFF for shift in range(112, -16, -16)]
    texts = [chance.choice([f"{group:x}", f"{group:X}", f"{group:04x}", f"{group:03x}"]) for group in groups]
    if chance.random() < 0.3:
        texts[6:] = [".".join(str(address >> shift & 255) for shift in (24, 16, 8, 0))]
    zeros = [at for at in range(len(texts)) if set(texts[at]) == {"0"}]
    text = ":".join(texts)
    if zeros and chance.random() < 0.7:
        start = end = chance.choice(zeros)
        while end + 1 in zeros and chance.random() < 0.8:
            end += 1
        text = ":".join(texts[:start]) + "::" + ":".join(texts[end + 1 :])
    if chance.random() < 0.1:
        at = chance.randrange(len(text))
        text = text[:at] + chance.choice(":.0f%g") + text[at:]
    return text


@pytest.mark.parametrize("seed", range(40))
def test_texts_in_networks_of_version_6(seed: int) -> None:
    chance = random.Random(seed)
    prefix = chance.randrange(129)
    groups = [chance.choice([0, 0, 1, 0x10, 0xA0, 0xFE80, chance.getrandbits(16)]) for _ in range(8)]
    first = sum(group << 16 * at for at, group in enumerate(groups)) >> (128 - prefix) << (128 - prefix)
    network = IPv6Network((first, prefix))
    regex = re.compile(network_regex(network))
    inside = 0
    for _ in range(300):
        noise = sum(chance.choice([0, 0, chance.getrandbits(16)]) << 16 * at for at in range(8))
        address = first | noise & int(network.hostmask)
        address ^= 1 << chance.randrange(128) if chance.random() < 0.3 else 0
        for text in (_spelled(address, chance), str(IPv6Address(address))):
            assert (regex.search(text) is not None) == _is_within(text, network), (text, network)
            inside += _is_within(text, network)
    assert inside


@pytest.mark.parametrize("network", ["0.0.0.0/0", "10.0.0.0/8", "172.16.0.0/12", "192.168.4.0/22", "1.2.3.4/32"])
def test_texts_in_networks_of_version_4(network: str) -> None:
    chance, own = random.Random(network), IPv4Network(network)
    regex = re.compile(network_regex(own))
    edges = [int(own[0]), int(own[-1]), int(own[0]) - 1, int(own[-1]) + 1]
    for address in [
        *edges,
        *(chance.choice(edges[:2]) ^ chance.getrandbits(chance.randrange(1, 33)) for _ in range(500)),
    ]:
        text = ".".join(str(address >> shift & 255) for shift in (24, 16, 8, 0))
        for odd in (text, f"{text}.", f"0{text}", f" {text}", text[:-1], text.replace(".", "x"), "256.1.1.1", "10.1"):
            assert (regex.search(odd) is not None) == _is_within(odd, own), odd
