"""An S3 server on this machine: moto's, which keeps its buckets in memory."""

from __future__ import annotations

import importlib.util
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

BUCKET = "rules"
ACCESS_KEY, SECRET_KEY = "AKIDEXAMPLE", "secret-of-the-tests"


def missing_package() -> str | None:
    """Why there is no server, or no client; None if there are both."""
    for package in ("moto", "flask", "obstore"):
        if importlib.util.find_spec(package) is None:
            return f"{package} is not installed: pip install -e '.[test]'"
    return None


def environment(endpoint: str) -> dict[str, str]:
    """What tells obstore, and every other client of S3, where the server is."""
    return {
        "AWS_ACCESS_KEY_ID": ACCESS_KEY,
        "AWS_SECRET_ACCESS_KEY": SECRET_KEY,
        "AWS_REGION": "us-east-1",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_ENDPOINT_URL": endpoint,
        "AWS_ALLOW_HTTP": "true",
    }


@contextmanager
def s3_server() -> Iterator[S3Server]:
    """A server with an empty bucket, stopped at the end."""
    port = free_port()
    log = subprocess.DEVNULL
    process = subprocess.Popen(
        [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)],
        stdout=log,
        stderr=log,
        env=os.environ | {"MOTO_CALL_RESET_API": "false"},
    )
    try:
        wait_for(port, process)
        server = S3Server(f"http://127.0.0.1:{port}")
        server.client.create_bucket(Bucket=BUCKET)
        yield server
    finally:
        process.kill()
        process.wait()


class S3Server:
    """The server, as tests look at it: by boto3, not by what they test."""

    def __init__(self, endpoint: str) -> None:
        self.endpoint = endpoint
        import boto3

        self.client: Any = boto3.client(
            "s3",
            endpoint_url=endpoint,
            aws_access_key_id=ACCESS_KEY,
            aws_secret_access_key=SECRET_KEY,
            region_name="us-east-1",
        )

    def keys(self, prefix: str = "") -> list[str]:
        pages = self.client.get_paginator("list_objects_v2").paginate(Bucket=BUCKET, Prefix=prefix)
        return [found["Key"] for page in pages for found in page.get("Contents", ())]

    def read(self, key: str) -> bytes:
        return bytes(self.client.get_object(Bucket=BUCKET, Key=key)["Body"].read())

    def write(self, key: str, content: bytes) -> None:
        self.client.put_object(Bucket=BUCKET, Key=key, Body=content)

    def delete(self, key: str) -> None:
        self.client.delete_object(Bucket=BUCKET, Key=key)

    def copy(self, source: str, target: str) -> None:
        """Copy a whole store."""
        for key in self.keys(f"{source}/"):
            where = {"Bucket": BUCKET, "Key": key}
            self.client.copy_object(Bucket=BUCKET, Key=target + key.removeprefix(source), CopySource=where)

    def download(self, store: str, directory: Path) -> Path:
        """A store as a local directory, the times of its files included."""
        pages = self.client.get_paginator("list_objects_v2").paginate(Bucket=BUCKET, Prefix=f"{store}/")
        for found in (found for page in pages for found in page.get("Contents", ())):
            file = directory / found["Key"].removeprefix(f"{store}/")
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(self.read(found["Key"]))
            written = found["LastModified"].timestamp()
            os.utime(file, (written, written))
        return directory


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_for(port: int, process: subprocess.Popen[Any], seconds: float = 60) -> None:
    """Return when a server listens on a port; fail if its process ends before that."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        assert process.poll() is None, f"the server has stopped with code {process.returncode}"
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            time.sleep(0.05)
    raise AssertionError("the server does not start")
