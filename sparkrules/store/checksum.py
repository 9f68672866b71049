"""Lengths and checksums: how a reader knows that a file is the one that was written.

A file has a CRC-32 for each `BLOCK` bytes, so that who reads a part of it need not read the rest. It is no signature:
who can write to the store can write a checksum as well. It finds what disks, copies and mix-ups do. CRC-32 is what the
standard libraries of Python and Java both have and compute at gigabytes per second, and it finds every change of up to
32 bits in a row.

A JSON file of the store carries its own checksum: it ends with a field `checksum`, which is that of all bytes before
the field.
"""

from __future__ import annotations

import re
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from sparkrules.errors import CorruptStore

BLOCK = 1 << 18
_END = re.compile(rb'"checksum": "[0-9a-f]{8}"\n\}\n\Z')
_END_BYTES = len('"checksum": "00000000"\n}\n')


@dataclass(frozen=True)
class FileSum:
    """The length of a file, and the checksums of its blocks in hexadecimal, one after the other.

    >>> FileSum.of(b"abc")
    FileSum(length=3, crc32='352441c2')
    """

    length: int
    crc32: str

    @staticmethod
    def of(content: bytes | memoryview | Any) -> FileSum:
        view = memoryview(content)
        blocks = (view[start : start + BLOCK] for start in range(0, len(view), BLOCK))
        return FileSum(len(view), "".join(map(_hexadecimal, map(zlib.crc32, blocks))))

    def check(self, content: bytes | memoryview | Any, file: Path, remedy: str) -> None:
        """Raise `CorruptStore`, which names the file, unless this is its content."""
        found = FileSum.of(content)
        if found.length != self.length:
            raise CorruptStore(f"{file} is damaged (it has {found.length} bytes, not {self.length}): {remedy}")
        if found.crc32 != self.crc32:
            raise CorruptStore(f"{file} is damaged (its checksum is not the one that was published): {remedy}")

    @staticmethod
    def from_json(fields: Any) -> FileSum:
        """What a JSON file says; raises `ValueError`, `KeyError` or `TypeError` if it is not that."""
        length, crc32 = fields["length"], fields["crc32"]
        if not isinstance(length, int) or not re.fullmatch("([0-9a-f]{8})*", crc32):
            raise ValueError(f"{fields!r} is not the checksum of a file")
        return FileSum(length, crc32)


class SummedFile:
    """A file to write to, which knows its checksum as far as it has been written."""

    def __init__(self, out: IO[bytes]) -> None:
        self._out = out
        self._length = 0
        self._finished: list[int] = []
        self._last = 0

    @property
    def sum(self) -> FileSum:
        unfinished = [self._last] if self._length % BLOCK else []
        return FileSum(self._length, "".join(map(_hexadecimal, self._finished + unfinished)))

    @property
    def closed(self) -> bool:
        return self._out.closed

    def tell(self) -> int:
        return self._length

    def flush(self) -> None:
        self._out.flush()

    def close(self) -> None:
        """Whoever opened the file closes it."""

    def write(self, content: Any) -> int:
        view = memoryview(content).cast("B")
        self._out.write(view)
        start = 0
        while start < len(view):
            piece = view[start : start + BLOCK - self._length % BLOCK]
            self._last = zlib.crc32(piece, self._last)
            self._length += len(piece)
            start += len(piece)
            if self._length % BLOCK == 0:
                self._finished.append(self._last)
                self._last = 0
        return len(view)


def sealed(text: str) -> str:
    """The text of a JSON object with the field `checksum` at its end.

    >>> print(sealed('{"a": 1}'), end="")
    {"a": 1,
      "checksum": "d300b85c"
    }
    """
    begin = text.rstrip().removesuffix("}").rstrip() + ",\n  "
    return begin + f'"checksum": "{_hexadecimal(zlib.crc32(begin.encode()))}"\n}}\n'


def is_sealed(content: bytes) -> bool:
    """Whether a JSON file ends with its checksum, be it the right one or not."""
    return _END.search(content, max(len(content) - _END_BYTES, 0)) is not None


def check_seal(content: bytes) -> None:
    """Raise `ValueError` unless a JSON file ends with the checksum of what comes before it."""
    begin, end = content[:-_END_BYTES], content[-_END_BYTES:]
    if end != f'"checksum": "{_hexadecimal(zlib.crc32(begin))}"\n}}\n'.encode():
        raise ValueError("its checksum is not that of its content")


def _hexadecimal(crc: int) -> str:
    return f"{crc:08x}"
