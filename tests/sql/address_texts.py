"""Texts that are addresses, or nearly, in all the ways to write them."""

from __future__ import annotations

import random
from ipaddress import IPv4Network, IPv6Network, ip_address

ODD = [
    "",
    " ",
    "10.1",
    "10.1.2.3.evil.com",
    "::1%",
    "::1%eth0",
    "fe80::1%a%b",
    "::1%a/b",
    ":::",
    "1::2::3",
    "::ffff:1.2.3",
]
ODD += [
    "::ffff:10.0.0.1",
    "10.0.0.01",
    "010.0.0.1",
    "0x0a.0.0.1",
    "localhost",
    "10.0.0.1/32",
    "::/0",
    "١٠.0.0.1",
    "1:2:3",
]
ODD += ["1:2:3:4:5:6:7:8:9", "1:2:3:4:5:6:7::8", "::1:2:3:4:5:6:7:8", "1:2:3:4:5:6:1.2.3.4", "12345::", ":1", "1:", "."]
ODD += ["::ffff:1.2.3", "1:2:3"]


def is_within(text: str, network: IPv4Network | IPv6Network) -> bool:
    try:
        return ip_address(text) in network
    except ValueError:
        return False


def spelled(address: int, chance: random.Random) -> str:
    """One of the ways to write an address of version 6, or nearly one."""
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


def dotted(address: int) -> str:
    return ".".join(str(address >> shift & 255) for shift in (24, 16, 8, 0))


def random_network(chance: random.Random) -> IPv4Network | IPv6Network:
    if chance.random() < 0.5:
        prefix = chance.randrange(33)
        first = chance.choice([10 << 24, 192 << 24 | 168 << 16, chance.getrandbits(32)])
        return IPv4Network((first >> (32 - prefix) << (32 - prefix), prefix))
    prefix = chance.randrange(129)
    groups = [chance.choice([0, 0, 1, 0x10, 0xA0, 0xFE80, chance.getrandbits(16)]) for _ in range(8)]
    first = sum(group << 16 * at for at, group in enumerate(groups)) >> (128 - prefix) << (128 - prefix)
    return IPv6Network((first, prefix))


def random_text(network: IPv4Network | IPv6Network, chance: random.Random) -> str:
    """An address in a network or close to it, or nearly an address."""
    if isinstance(network, IPv4Network):
        address = int(network[0]) | chance.getrandbits(32) & int(network.hostmask)
        address ^= 1 << chance.randrange(32) if chance.random() < 0.3 else 0
        text = dotted(address)
        odd = (f"{text}.", f"0{text}", f" {text}", text[:-1], text.replace(".", "x"))
        return chance.choice(odd) if chance.random() < 0.1 else text
    noise = sum(chance.choice([0, 0, chance.getrandbits(16)]) << 16 * at for at in range(8))
    address = int(network[0]) | noise & int(network.hostmask)
    address ^= 1 << chance.randrange(128) if chance.random() < 0.3 else 0
    return spelled(address, chance)
