"""Tickets: secrets with which the owner of a subscription can renew or cancel it.

The store has only a keyed hash of a ticket: HMAC-SHA256 of its UTF-8 bytes, in hexadecimal. The key of the rule set is
in `<store>/<rule set>/tickets.key`, followed by a checksum. Anyone who can read the segments but not the key cannot
test guesses.
"""

from __future__ import annotations

import hashlib
import hmac
import logging
import secrets
import zlib
from collections.abc import Iterable

from sparkrules.errors import StoreError, WrongTicket
from sparkrules.store.place import Place, create

KEY_FILE = "tickets.key"
_KEY_BYTES = 32
_NOBODY = "0" * 64  # the hash of no ticket
_log = logging.getLogger("sparkrules.tickets")


def new_ticket() -> str:
    """A secret that nobody can guess.

    It is made of digits and letters: after `--ticket`, one that began with `-` would be taken for an option.

    >>> new_ticket().isalnum()
    True
    """
    return secrets.token_hex(32)


def ticket_hash(key: bytes, ticket: str) -> str:
    """The stored form of a ticket.

    >>> ticket_hash(b"key", "secret")[:16]
    '25cf3c44c8f39313'
    """
    return hmac.new(key, ticket.encode(errors="surrogatepass"), hashlib.sha256).hexdigest()


def check_ticket(key: bytes, ticket: str, stored: str | None, rule_set: str, id: str) -> None:
    """Raise `WrongTicket` unless the ticket matches the stored hash.

    Takes the same time whether or not there is a subscription with this id and whether or not it has a ticket, and does
    not reveal which. Failures are logged, without the ticket.
    """
    given = ticket_hash(key, ticket if isinstance(ticket, str) else "")
    same = hmac.compare_digest(given.encode(), (stored or _NOBODY).encode())
    if not (same and stored is not None):
        refuse(rule_set, id, "wrong ticket")
        raise WrongTicket(f"this is not the ticket of rule {id!r} in rule set {rule_set!r}")


def matching_hashes(key: bytes | None, tickets: Iterable[str]) -> set[str]:
    """The stored forms of some tickets; none if no ticket has ever been issued."""
    return set() if key is None else {ticket_hash(key, ticket) for ticket in tickets}


def refuse(rule_set: str, id: str, reason: str) -> None:
    """Log that a change of a subscription was refused."""
    _log.warning("%s for rule %r of rule set %r", reason, id, rule_set)


def read_key(home: Place) -> bytes | None:
    """The key of the rule set in `home`, if it has one."""
    file = home / KEY_FILE
    try:
        key = bytes(file.read_bytes())
    except FileNotFoundError:
        return None
    except OSError as error:
        raise StoreError(f"{file}, the key of the tickets, cannot be read: {error}") from error
    secret, checksum = key[:_KEY_BYTES], key[_KEY_BYTES:]
    if len(secret) != _KEY_BYTES or checksum not in (b"", _checksum(home, secret)):
        raise StoreError(f"{file} is damaged, or of another rule set. Restore it; without it no ticket is valid")
    return secret


def shared_key(home: Place, wanted: bytes | None = None) -> bytes:
    """The key of the rule set in `home`, created if there is none. All publishers get the same key.

    With `wanted`, the key must be `wanted`, so that tickets already issued with it stay valid.
    """
    key = read_key(home)
    if key is None:
        try:
            key = _make_key(home, wanted or secrets.token_bytes(_KEY_BYTES))
        except OSError as error:
            raise StoreError(f"the key of the tickets cannot be written to {home}: {error}") from error
    if wanted is not None and not hmac.compare_digest(key, wanted):
        raise StoreError(
            f"the tickets of this rule set were given out with another key than {home / KEY_FILE}: publish to the "
            "store from which it was loaded, or to one that has no such rule set"
        )
    return key


def _checksum(home: Place, key: bytes) -> bytes:
    """The checksum that follows the key in its file (an older sparkrules wrote none). It depends on the rule set."""
    return zlib.crc32(home.name.encode() + b"\0" + key).to_bytes(4, "big")


def _make_key(home: Place, key: bytes) -> bytes:
    home.mkdir(parents=True, exist_ok=True)
    try:
        create(home / KEY_FILE, key + _checksum(home, key), private=True)
    except FileExistsError:
        made = read_key(home)
        if made is None:
            raise
        return made
    return key
