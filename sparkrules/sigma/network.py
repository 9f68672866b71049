r"""Networks as regular expressions: which texts are addresses in a network.

Every way to write an address counts, and nothing else: `10.1` and `10.1.2.3.evil.com` are not in 10.0.0.0/8, and ::1 is
also 0:0:0:0:0:0:0:1 and ::0.0.0.1. The addresses are those that Python's `ipaddress` reads.

>>> print(network_regex(ip_network("192.168.16.0/22")))
^192\.168\.(?:16|17|18|19)\.(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])$
"""

from __future__ import annotations

from ipaddress import IPv4Network, IPv6Network, ip_network

__all__ = ["ip_network", "network_regex"]

_BYTE = "(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])"
_GROUP = "[0-9a-fA-F]{1,4}"
_GROUPS = 8


def network_regex(network: IPv4Network | IPv6Network) -> str:
    """The regular expression, of Java and of Python, that a text matches if it is an address in the network."""
    if isinstance(network, IPv4Network):
        return f"^{_dotted(int(network.network_address), network.prefixlen)}$"
    return f"^(?:{'|'.join(_forms(network))})(?:%[^%]+)?$"


def _dotted(address: int, prefix: int) -> str:
    return r"\.".join(_byte(address >> shift & 255, min(max(prefix - 24 + shift, 0), 8)) for shift in (24, 16, 8, 0))


def _byte(low: int, fixed: int) -> str:
    if fixed == 0:
        return _BYTE
    if fixed == 8:
        return str(low)
    return f"(?:{'|'.join(str(low + more) for more in range(1 << (8 - fixed)))})"


def _forms(network: IPv6Network) -> list[str]:
    """One expression per place where `::` can stand for zeros, and one without."""
    address, prefix = int(network.network_address), network.prefixlen
    lows = [address >> 16 * (_GROUPS - 1 - number) & 0xFFFF for number in range(_GROUPS)]
    fixed = [min(max(prefix - 16 * number, 0), 16) for number in range(_GROUPS)]
    groups = [_group(low, bits) for low, bits in zip(lows, fixed, strict=True)]
    tail = f"(?:{groups[6]}:{groups[7]}|{_dotted(address & 0xFFFFFFFF, max(prefix - 96, 0))})"
    forms = [":".join([*groups[:6], tail])]
    for start in range(_GROUPS):
        for end in range(start + 1, _GROUPS + 1):
            if any(lows[start:end]):
                break
            after = [*groups[end:6], tail] if end <= 6 else groups[end:]
            forms.append(":".join(groups[:start]) + "::" + ":".join(after))
    return forms


def _group(low: int, fixed: int) -> str:
    """Hexadecimal digits of 16 bits, of which the first ones are fixed; zeros in front may be left out."""
    if fixed == 0:
        return _GROUP
    free = 16 - fixed
    whole, rest = divmod(free, 4)
    # Digits: those that are fixed, one that is partly free, and `whole` that are free.
    head = f"{low:04x}"[: 4 - whole - (rest > 0)]
    values = "".join(f"{(low >> 4 * whole & 15) + more:x}" for more in range(1 << rest)) if rest else ""
    digits = [*(_digit(digit) for digit in head), *([_digit(values)] if values else []), *[_digit(_HEX)] * whole]
    can_be_left_out = [*(digit == "0" for digit in head), *(["0" in values] if values else []), *[True] * whole]
    expression = digits[-1]
    for number in range(len(digits) - 2, -1, -1):
        shorter = f"|{expression}" if all(can_be_left_out[: number + 1]) else ""
        expression = f"(?:{digits[number]}{expression}{shorter})" if shorter else digits[number] + expression
    return expression


_HEX = "0123456789abcdef"


def _digit(values: str) -> str:
    if values == _HEX:
        return "[0-9a-fA-F]"
    both = "".join(dict.fromkeys(values + values.upper()))
    return both if len(both) == 1 else f"[{both}]"
