"""Azure Blob Storage on this machine: Azurite, Microsoft's emulator, which `make test-stores` installs."""

from __future__ import annotations

import base64
import hashlib
import hmac
import shutil
import subprocess
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from email.utils import formatdate
from pathlib import Path

from tests.stores.s3_server import free_port, wait_for

CONTAINER = "rules"
ACCOUNT = "devstoreaccount1"
# Of every Azurite: it is in its documentation.
KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
_INSTALLED = Path(__file__).parents[2] / ".venvs" / "azurite" / "node_modules" / ".bin" / "azurite-blob"


def azurite() -> str | None:
    """The program, if it is installed."""
    return str(_INSTALLED) if _INSTALLED.exists() else shutil.which("azurite-blob")


def environment(endpoint: str) -> dict[str, str]:
    """What tells obstore where the server is."""
    return {
        "AZURE_STORAGE_ACCOUNT_NAME": ACCOUNT,
        "AZURE_STORAGE_ACCOUNT_KEY": KEY,
        "AZURE_STORAGE_USE_EMULATOR": "true",
        "AZURITE_BLOB_STORAGE_URL": endpoint,
        "AZURE_ALLOW_HTTP": "true",
    }


@contextmanager
def azure_server(program: str) -> Iterator[str]:
    """The endpoint of a server with an empty container, stopped at the end."""
    port = free_port()
    process = subprocess.Popen(
        [
            *(program, "--blobHost", "127.0.0.1", "--blobPort", str(port)),
            *("--inMemoryPersistence", "--silent", "--skipApiVersionCheck", "--disableTelemetry"),
        ],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        wait_for(port, process)
        endpoint = f"http://127.0.0.1:{port}"
        _make_container(endpoint)
        yield endpoint
    finally:
        process.kill()
        process.wait()


def _make_container(endpoint: str) -> None:
    headers = {"x-ms-date": formatdate(usegmt=True), "x-ms-version": "2021-08-06"}
    signed = "PUT" + "\n" * 12 + "".join(f"{name}:{value}\n" for name, value in headers.items())
    signed += f"/{ACCOUNT}/{ACCOUNT}/{CONTAINER}\nrestype:container"
    signature = base64.b64encode(hmac.new(base64.b64decode(KEY), signed.encode(), hashlib.sha256).digest()).decode()
    request = urllib.request.Request(
        f"{endpoint}/{ACCOUNT}/{CONTAINER}?restype=container",
        method="PUT",
        headers=headers | {"Authorization": f"SharedKey {ACCOUNT}:{signature}", "Content-Length": "0"},
    )
    with urllib.request.urlopen(request) as response:
        assert response.status == 201
