"""Files in an object store: Amazon S3, Google Cloud Storage, Azure Blob Storage, and servers with the same protocols.

`ObjectPath` has the methods of `pathlib.Path` that the store uses; the library obstore makes the requests. Contract:

- An object appears whole or not at all. Readers see it at once: all three clouds are strongly consistent.
- `create` fails if the name is taken. If the response to a request is lost, the request is repeated. It then finds its
  own object, so a taken name that has exactly the wanted content counts as created.
- Before its first `create`, a process tries whether the server obeys the condition: some ignore it.
- A directory is the beginning of a name: it exists while something is in it, and is never made.
- There is no rename. `rename` copies and then deletes: after a crash in between, both names exist.

Credentials come from the environment, as obstore documents it. No message has any: error texts of servers, which may
repeat access keys or signed URLs, are reduced to the status and the error code.
"""

from __future__ import annotations

import fnmatch
import re
import uuid
from collections.abc import Callable, Iterator
from datetime import timedelta
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from sparkrules.errors import SetupError, StoreError

if TYPE_CHECKING:
    from obstore.store import ObjectStore

_Result = TypeVar("_Result")
# obstore itself repeats requests that cannot do harm twice, waiting longer each time: about 10 seconds in all. These
# attempts are for the others, and for a connection that breaks within a response.
_ATTEMPTS = 3
_RETRIES: dict[str, Any] = {"max_retries": 6, "retry_timeout": timedelta(seconds=60)}
_STATUS = re.compile(r"status code: (\d{3}[A-Za-z -]*)")
_CODE = re.compile(r"<Code>(\w+)</Code>")
_NO_BUCKET = re.compile(r"NoSuchBucket|ContainerNotFound|bucket does not exist", re.IGNORECASE)


class Status(NamedTuple):
    """The size of an object and when it was written, by the names that `pathlib` has for them."""

    st_size: int
    st_mtime: float


_DIRECTORY = Status(0, 0.0)


class Bucket:
    """A bucket or container, by its URL without a path."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.is_conditional = False  # whether its server is known to obey a condition

    @cached_property
    def client(self) -> ObjectStore:
        try:
            from obstore.store import from_url
        except ImportError as error:
            raise SetupError(
                f"stores such as {self.url} need the package obstore: pip install 'sparkrules-engine[cloud]'"
            ) from error
        try:
            # s3a:// is Hadoop's name for s3://.
            return from_url(re.sub("^s3a:", "s3:", self.url), retry_config=_RETRIES)  # type: ignore[call-overload,no-any-return]
        except Exception as error:
            raise StoreError(f"{self.url} cannot be used: {_redacted(str(error))}") from None


class ObjectPath:
    """An object, or a directory of objects.

    >>> path = ObjectPath.of("s3a://bucket/rules/") / "alerts" / "versions" / "1.json"
    >>> str(path), path.name, path.stem, path.suffix, str(path.parent)
    ('s3a://bucket/rules/alerts/versions/1.json', '1.json', '1', '.json', 's3a://bucket/rules/alerts/versions')
    >>> path == ObjectPath.of("s3://bucket/rules/alerts/versions/1.json")
    True
    """

    def __init__(self, bucket: Bucket, key: str, known: Status | None = None) -> None:
        self._bucket = bucket
        self.key = key
        self._known = known

    @staticmethod
    def of(url: str) -> ObjectPath:
        """The path of a URL `scheme://bucket/key`."""
        scheme, _, rest = url.partition("://")
        bucket, _, key = rest.partition("/")
        parts = [part for part in key.split("/") if part]
        if not bucket or {".", ".."} & set(parts):
            raise StoreError(f"{url} is not the URL of a directory in a bucket")
        return ObjectPath(Bucket(f"{scheme}://{bucket}"), "/".join(parts))

    def __str__(self) -> str:
        return f"{self._bucket.url}/{self.key}" if self.key else self._bucket.url

    def __fspath__(self) -> str:
        return str(self)

    def __repr__(self) -> str:
        return f"ObjectPath({str(self)!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ObjectPath) and self._identity == other._identity

    def __hash__(self) -> int:
        return hash(self._identity)

    def __lt__(self, other: ObjectPath) -> bool:
        return self._identity < other._identity

    def __reduce__(self) -> tuple[Callable[[str], ObjectPath], tuple[str]]:
        return ObjectPath.of, (str(self),)

    @property
    def _identity(self) -> str:
        return re.sub("^s3a:", "s3:", str(self))

    @property
    def name(self) -> str:
        return self.key.rpartition("/")[2]

    @property
    def stem(self) -> str:
        return self.name.rpartition(".")[0] or self.name

    @property
    def suffix(self) -> str:
        before, dot, after = self.name.rpartition(".")
        return dot + after if before else ""

    @property
    def parent(self) -> ObjectPath:
        return ObjectPath(self._bucket, self.key.rpartition("/")[0])

    def __truediv__(self, name: str) -> ObjectPath:
        return ObjectPath(self._bucket, f"{self.key}/{name}".strip("/"))

    def joinpath(self, *names: str) -> ObjectPath:
        return self / "/".join(names) if names else self

    def with_name(self, name: str) -> ObjectPath:
        return self.parent / name

    def exists(self) -> bool:
        """Whether there is an object of this name, or a directory."""
        try:
            self._meta()
        except FileNotFoundError:
            return self.is_dir()
        return True

    def is_dir(self) -> bool:
        if self._known is not None:
            return self._known is _DIRECTORY
        return any(True for _ in self.iterdir())

    def is_symlink(self) -> bool:
        return False

    def iterdir(self) -> Iterator[ObjectPath]:
        """The objects and directories in this directory, with the status that each had; none if it does not exist."""
        found = self._request(lambda: self._bucket.client.list_with_delimiter(self.key or None))
        for directory in found["common_prefixes"]:
            yield ObjectPath(self._bucket, directory.rstrip("/"), _DIRECTORY)
        for meta in found["objects"]:
            if meta["path"] != self.key:  # some programs make an empty object for a directory
                yield ObjectPath(self._bucket, meta["path"], _status(meta))

    def glob(self, pattern: str) -> list[ObjectPath]:
        """What is in this directory under a name like the pattern."""
        return [path for path in self.iterdir() if fnmatch.fnmatchcase(path.name, pattern)]

    def stat(self) -> Status:
        """The status of an object now. Raises `FileNotFoundError` if there is none."""
        return _status(self._meta())

    def lstat(self) -> Status:
        """The status as of when the directory was listed, if this object is from a listing; otherwise now."""
        return self._known or self.stat()

    def read_bytes(self) -> memoryview:
        return memoryview(self._request(lambda: self._bucket.client.get(self.key).bytes()))

    def mkdir(self, *, parents: bool = False, exist_ok: bool = False) -> None:
        """Do nothing: a directory exists once something is in it."""

    def overwrite(self, content: bytes | memoryview) -> None:
        """Write an object, or replace it."""
        self._request(lambda: self._bucket.client.put(self.key, content))

    def create(self, content: bytes) -> None:
        """Write an object unless the name is taken; raises `FileExistsError` if it is."""
        self._require_conditions()
        try:
            self._create(content)
        except FileExistsError:
            try:
                is_own = self.read_bytes() == content
            except FileNotFoundError:  # deleted since then, as when a version is withdrawn
                is_own = False
            if not is_own:
                raise

    def _create(self, content: bytes) -> None:
        self._request(lambda: self._bucket.client.put(self.key, content, mode="create"))

    def _require_conditions(self) -> None:
        """Raise `StoreError` if the server ignores a condition that it does not know, as servers of HTTP may."""
        if self._bucket.is_conditional:
            return
        probe = self.with_name(f".{uuid.uuid4().hex}.tmp")
        probe.overwrite(b"probe")
        try:
            probe._create(b"probe")
        except FileExistsError:
            self._bucket.is_conditional = True
        finally:
            probe.unlink(missing_ok=True)
        if not self._bucket.is_conditional:
            raise self._unconditional()

    def _unconditional(self) -> StoreError:
        return StoreError(
            f"{self}: this object store cannot create an object only if there is none of its name, which publishing "
            "needs. Choose a store that can: see docs/operating.md"
        )

    def unlink(self, *, missing_ok: bool = False) -> None:
        try:
            self._request(lambda: self._bucket.client.delete(self.key))
        except FileNotFoundError:
            if not missing_ok:
                raise

    def rename(self, target: ObjectPath) -> None:
        """Copy this object, or all objects of this directory, and then delete them."""
        inside = self._inside()
        for path in inside or [self]:
            other = target.key + path.key.removeprefix(self.key)
            self._request(lambda path=path, other=other: self._bucket.client.copy(path.key, other))  # type: ignore[misc]
        for path in inside or [self]:
            path.unlink(missing_ok=True)

    def remove(self) -> None:
        """Delete this object, or all objects of this directory."""
        for path in self._inside() or [self]:
            path.unlink(missing_ok=True)

    def _inside(self) -> list[ObjectPath]:
        """All objects below this directory."""
        chunks = self._request(lambda: list(self._bucket.client.list(self.key)))
        keys = [meta["path"] for chunk in chunks for meta in chunk]
        return [ObjectPath(self._bucket, key) for key in keys if key != self.key]

    def _meta(self) -> Any:
        return self._request(lambda: self._bucket.client.head(self.key))

    def _request(self, call: Callable[[], _Result]) -> _Result:
        """The result of a request. Repeats it if it is not known whether it succeeded."""
        _ = self._bucket.client  # says what to install if obstore is missing
        from obstore.exceptions import (
            AlreadyExistsError,
            BaseError,
            NotSupportedError,
            PermissionDeniedError,
            UnauthenticatedError,
        )

        for attempt in range(_ATTEMPTS):
            try:
                return call()
            except AlreadyExistsError:
                raise FileExistsError(f"{self} exists") from None
            except NotSupportedError:
                raise self._unconditional() from None
            except (BaseError, OSError) as error:
                if _NO_BUCKET.search(str(error)):
                    raise StoreError(f"{self}: there is no bucket {self._bucket.url}") from None
                if isinstance(error, FileNotFoundError):
                    raise FileNotFoundError(f"{self} does not exist") from None
                said = _reason(error)
                if re.match("401|403", said) or isinstance(error, (PermissionDeniedError, UnauthenticatedError)):
                    raise StoreError(f"{self}: access denied ({said})") from None
                is_final = re.match("4[0-9]{2}", said) and not re.match("408|409|429", said)
                if is_final or attempt == _ATTEMPTS - 1:
                    raise StoreError(f"{self}: the request failed ({said})") from None
        raise AssertionError("the last attempt returns or raises")


def _status(meta: Any) -> Status:
    return Status(meta["size"], meta["last_modified"].timestamp())


def _reason(error: Exception) -> str:
    """What a server said, without anything that may be a secret.

    >>> _reason(OSError("PUT https://x/y?sig=abc - status code: 403 Forbidden: <Error><Code>AccessDenied</Code>..."))
    '403 Forbidden, AccessDenied'
    >>> _reason(OSError("Error performing GET https://x/y?sig=abc in 2s: connection refused"))
    'Error performing GET https://x/y?... in 2s: connection refused'
    """
    text = str(error)
    status = _STATUS.search(text)
    if status is None:
        return _redacted(text)
    code = _CODE.search(text)
    return status[1].strip() + (f", {code[1]}" if code else "")


def _redacted(text: str) -> str:
    first = text.strip().partition("\n")[0]
    first = re.sub(r"(?<=://)[^/\s]*@", "...@", first)
    return re.sub(r"(https?://[^\s?]*)\?\S*", r"\1?...", first)[:300]
