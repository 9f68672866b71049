"""The location of the store, determined by the same rule in Python and in the plugin."""

from __future__ import annotations

import os
import re
from pathlib import Path

from sparkrules.errors import StoreError
from sparkrules.store.object_path import ObjectPath
from sparkrules.store.place import Place

STORE_VARIABLE = "SPARKRULES_STORE"
_URL = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):/")  # a one-letter scheme is a Windows drive
_AZURE = {"az", "abfs", "abfss"}
_OBJECT_STORES = {"s3", "s3a", "gs"} | _AZURE
_DATABRICKS = Path("/dbfs")  # where the clusters of Databricks mount dbfs:/


def default_store() -> str:
    """The store to use if none is given: `$SPARKRULES_STORE`, else `~/.sparkrules/store`.

    The home directory is `$HOME` (on Windows `%USERPROFILE%`), else the one in the system's user database. The plugin
    does the same.
    """
    named = os.environ.get(STORE_VARIABLE)
    if named:
        return named
    try:
        return str(Path.home() / ".sparkrules" / "store")
    except (RuntimeError, KeyError) as error:  # a container whose user is not in the user database
        raise StoreError(f"this user has no home directory for a store: set {STORE_VARIABLE}") from error


def store_path(store: str | os.PathLike[str]) -> Place:
    """The directory or the place in an object store that a path or a URL refers to.

    >>> str(store_path("s3://bucket/rules"))
    's3://bucket/rules'
    >>> str(store_path("abfss://rules@account.dfs.core.windows.net/alerts"))
    'abfss://rules@account.dfs.core.windows.net/alerts'
    >>> store_path("s3://key:secret@bucket/rules")
    Traceback (most recent call last):
    ...
    sparkrules.errors.StoreError: the s3:// URL of the store contains credentials: remove them, and set them in the \
environment, as docs/operating.md says
    """
    if isinstance(store, ObjectPath):
        return store
    text, scheme = os.fspath(store), _scheme(store)
    if scheme not in _OBJECT_STORES:
        return local_path(text)
    _, _, rest = text.partition(":/")
    rest = rest.removeprefix("/")
    authority = rest.partition("/")[0]
    # A secret can have a slash: what looks like the path may belong to it. So nothing of the URL is repeated.
    if ":" in authority or "?" in rest or ("@" in authority and scheme not in _AZURE):
        raise StoreError(
            f"the {scheme}:// URL of the store contains credentials: remove them, and set them in the environment, as "
            "docs/operating.md says"
        )
    return ObjectPath.of(_azure_url(rest, is_complete="@" in authority) if scheme in _AZURE else f"{scheme}://{rest}")


def _azure_url(rest: str, *, is_complete: bool) -> str:
    """The URL that Hadoop understands, too: it names the account."""
    if is_complete:
        return f"abfss://{rest}"
    account = os.environ.get("AZURE_STORAGE_ACCOUNT_NAME")
    container, _, path = rest.partition("/")
    if not account:
        raise StoreError(
            f"which account has the container {container!r}? Write abfss://{container}@ACCOUNT.dfs.core.windows.net/"
            f"{path}, or set AZURE_STORAGE_ACCOUNT_NAME"
        )
    return f"abfss://{container}@{account}.dfs.core.windows.net/{path}"


def local_path(store: str | os.PathLike[str]) -> Path:
    """The directory that a path or a `file:` URI refers to.

    >>> local_path("file:///data/rules").as_posix()
    '/data/rules'
    >>> local_path("hdfs://cluster/rules")
    Traceback (most recent call last):
    ...
    sparkrules.errors.StoreError: Python has no client for hdfs://: publish to s3://, gs://, abfss:// or a directory, \
and copy it. Spark reads any file system of Hadoop, and CALL changes what is in HDFS
    """
    text = os.fspath(store)
    if text.startswith("file:"):
        # Parsed like Hadoop: `file:/a` and `file:///a` are equivalent, and nothing is unescaped.
        return Path(re.sub(r"^file:(//[^/]*)?", "", text))
    if text.startswith("dbfs:/"):
        if not _DATABRICKS.is_dir():
            raise StoreError(f"{text} is a path of Databricks, and {_DATABRICKS} is not mounted here")
        return _DATABRICKS / text.removeprefix("dbfs:").lstrip("/")
    if url := _URL.match(text):
        raise StoreError(
            f"Python has no client for {url[1]}://: publish to s3://, gs://, abfss:// or a directory, and copy it. "
            "Spark reads any file system of Hadoop, and CALL changes what is in HDFS"
        )
    return Path(text).expanduser().absolute()


def path_in_spark(store: str | os.PathLike[str]) -> str:
    """A store as the plugin has to name it, in `spark.sparkrules.store`.

    >>> path_in_spark("hdfs://cluster/rules"), path_in_spark(Path("/data/rules")), path_in_spark(Path("/dbfs/rules"))
    ('hdfs://cluster/rules', '/data/rules', 'dbfs:/rules')
    """
    if _scheme(store) in _OBJECT_STORES:
        return str(store_path(store))
    if isinstance(store, Path) and store.is_relative_to(_DATABRICKS):
        return f"dbfs:/{store.relative_to(_DATABRICKS).as_posix()}"
    return os.fspath(store)


def _scheme(store: str | os.PathLike[str]) -> str:
    url = _URL.match(os.fspath(store))
    return url[1].lower() if url else ""
