"""Addresses of networks and hosts, IPv4 and IPv6: strings that sort like the addresses.

The strings that are addresses are those that Python's `ipaddress` and RFC 4291 have: `10.0.0.1`, `2001:db8::1`,
`::ffff:10.0.0.1`, `fe80::1%eth0`. No part of an IPv4 address has a zero in front; nothing is trimmed, nothing is looked
up. IPv4 and IPv6 are separate: `::ffff:10.0.0.1` is an IPv6 address, and not in 10.0.0.0/8. The plugin has the same
grammar (`Address.scala`).

>>> address_key("10.0.0.1"), address_key("::1%eth0"), address_key("10.1")
('4:0a000001', '6:00000000000000000000000000000001', '')
>>> network_range("10.0.0.0/8")
('4:0a000000', '4:0affffff')
>>> network_range("10.0.0.5/8")
Traceback (most recent call last):
...
ValueError: '10.0.0.5/8' has bits of a host: the network is 10.0.0.0/8
"""

from __future__ import annotations

import re
from ipaddress import IPv4Address, IPv6Address

_BYTE = "(25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])"
_DOTTED = re.compile(rf"{_BYTE}\.{_BYTE}\.{_BYTE}\.{_BYTE}")
_GROUP = re.compile("[0-9a-fA-F]{1,4}")
_PREFIX = re.compile("[0-9]{1,3}")
_GROUPS = 8
_LONGEST = 45  # 0000:0000:0000:0000:0000:ffff:255.255.255.255


def address_key(text: str) -> str:
    """The key of an address; empty, and so before all others, if the text is none."""
    version, number = _address(text)
    return "" if number is None else _key(version, number)


def network_range(text: str) -> tuple[str, str]:
    """The keys of the first and the last address of a network. `ValueError` says what is wrong with the text."""
    address, slash, prefix = text.partition("/")
    version, number = _address(address)
    if number is None or "%" in address:
        raise ValueError(f"{_shown(text)} is not a network such as 10.0.0.0/8 or 2001:db8::/32")
    bits = 32 if version == 4 else 128
    if slash and not (_PREFIX.fullmatch(prefix) and int(prefix) <= bits):
        raise ValueError(f"{_shown(text)} has no prefix length of 0 to {bits} after the slash")
    free = bits - int(prefix) if slash else 0
    first = number >> free << free
    if first != number:
        shown = IPv4Address(first) if version == 4 else IPv6Address(first)
        raise ValueError(f"{_shown(text)} has bits of a host: the network is {shown}/{bits - free}")
    return _key(version, first), _key(version, first | ((1 << free) - 1))


def _key(version: int, number: int) -> str:
    return f"4:{number:08x}" if version == 4 else f"6:{number:032x}"


def _shown(text: str) -> str:
    return repr(text if len(text) <= _LONGEST + 4 else text[:_LONGEST] + "...")


def _address(text: str) -> tuple[int, int | None]:
    """The version of the protocol and the number; no number if the text is no address."""
    if ":" not in text:
        return 4, _dotted(text)
    head, percent, zone = text.partition("%")
    if (percent and (not zone or "%" in zone or "/" in zone)) or len(head) > _LONGEST:
        return 6, None
    return 6, _groups(head)


def _dotted(text: str) -> int | None:
    found = _DOTTED.fullmatch(text)
    return None if found is None else int.from_bytes(bytes(map(int, found.groups())), "big")


def _groups(text: str) -> int | None:
    if "." in text:
        before, _, dotted = text.rpartition(":")
        last = _dotted(dotted)
        if last is None:
            return None
        text = f"{before}:{last >> 16:x}:{last & 0xFFFF:x}"
    sides = text.split("::")
    if len(sides) > 2:
        return None
    groups = [side.split(":") if side else [] for side in sides]
    missing = _GROUPS - sum(map(len, groups))
    if (missing < 1) if len(sides) == 2 else missing:
        return None
    if not all(_GROUP.fullmatch(group) for side in groups for group in side):
        return None
    if len(sides) == 2:
        groups.insert(1, ["0"] * missing)
    return int("".join(group.zfill(4) for side in groups for group in side), 16)
