"""Lengths and checksums: how a reader knows that a file is unchanged since it was written.

A file has one CRC-32 for every `BLOCK` bytes, so reading a part of the file does not require reading the rest. A
checksum is not a signature: anyone who can write to the store can also write a checksum. It detects disk errors, bad
copies and mixed-up files. We use CRC-32 because the standard libraries of Python and Java both have it and compute it
at gigabytes per second. It detects every burst error of up to 32 bits.

A JSON file of the store contains its own checksum: the last field, `checksum`, covers all bytes before that field.
"""

from __future__ import annotations

import re
import zlib
from dataclasses import dataclass
from typing import IO, Any

from sparkrules.errors import CorruptStore

BLOCK = 1 << 18
_END = re.compile(rb'"checksum": "[0-9a-f]{8}"\n\}\n\Z')
_END_BYTES = len('"checksum": "00000000"\n}\n')


@dataclass(frozen=True)
class FileSum:
    """The length of a file and the CRC-32 of each block, concatenated in hexadecimal.

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

    def check(self, content: bytes | memoryview | Any, file: object, remedy: str) -> None:
        """Raise `CorruptStore`, naming the file, unless `content` matches."""
        found = FileSum.of(content)
        if found.length != self.length:
            raise CorruptStore(f"{file} is damaged (it has {found.length} bytes, not {self.length}): {remedy}")
        if found.crc32 != self.crc32:
            raise CorruptStore(f"{file} is damaged (its checksum is not the one that was published): {remedy}")

    @staticmethod
    def from_json(fields: Any) -> FileSum:
        """Parse the fields of a JSON file. Raises `ValueError`, `KeyError` or `TypeError` if they are invalid."""
        length, crc32 = fields["length"], fields["crc32"]
        if not isinstance(length, int) or not re.fullmatch("([0-9a-f]{8})*", crc32):
            raise ValueError(f"{fields!r} is not the checksum of a file")
        return FileSum(length, crc32)


class SummedFile:
    """A writable file that computes its checksum while it is written."""

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
        """Do nothing: the caller that opened the file closes it."""

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
    """The text of a JSON object with the field `checksum` appended.

    >>> print(sealed('{"a": 1}'), end="")
    {"a": 1,
      "checksum": "d300b85c"
    }
    """
    begin = text.rstrip().removesuffix("}").rstrip() + ",\n  "
    return begin + f'"checksum": "{_hexadecimal(zlib.crc32(begin.encode()))}"\n}}\n'


def is_sealed(content: bytes) -> bool:
    """Whether a JSON file ends with a checksum, correct or not."""
    return _END.search(content, max(len(content) - _END_BYTES, 0)) is not None


def check_seal(content: bytes) -> None:
    """Raise `ValueError` unless a JSON file ends with the correct checksum."""
    begin, end = content[:-_END_BYTES], content[-_END_BYTES:]
    if end != f'"checksum": "{_hexadecimal(zlib.crc32(begin))}"\n}}\n'.encode():
        raise ValueError("its checksum does not match its content")


def _hexadecimal(crc: int) -> str:
    return f"{crc:08x}"
