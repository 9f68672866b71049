"""A proxy in front of an object store that loses requests, loses responses, breaks bodies off and is slow."""

from __future__ import annotations

import http.client
import itertools
import socket
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

# What happens to every tenth request, in turn.
FAULTS = ("request lost", "response lost", "broken off", "server error", "slow")


class Proxy:
    """The running proxy. `faults` counts what it has done to requests, and `total` has all requests."""

    def __init__(self, endpoint: str, total: Counter[str], faults: Counter[str]) -> None:
        self.endpoint = endpoint
        self.total = total
        self.faults = faults


@contextmanager
def failing_proxy(
    upstream: str,
    every: int = 10,
    only: Callable[[str, str], bool] | None = None,
    denies: str | None = None,
    strips: str | None = None,
) -> Iterator[Proxy]:
    """A proxy in which one of `every` requests fails; with `only`, one of those with such a method and path.

    With `denies`, it lets nobody pass, and says this. With `strips`, it removes this header from requests, as if the
    server did not know it.
    """
    target = urlsplit(upstream)
    numbers, kinds = itertools.count(1), itertools.cycle(FAULTS)
    lock = threading.Lock()
    total: Counter[str] = Counter()
    faults: Counter[str] = Counter()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def handle_one(self) -> None:
            fault = None
            with lock:
                total[self.command] += 1
                if (only is None or only(self.command, self.path)) and next(numbers) % every == 0:
                    fault = next(kinds)
                    faults[f"{self.command} {fault}"] += 1
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            if denies is not None:
                return self.answer(403, [], f"<Error>{denies}</Error>".encode())
            if fault == "request lost":
                return self.cut()
            if fault == "server error":
                return self.answer(503, [], b"<Error><Code>SlowDown</Code></Error>")
            if fault == "slow":
                time.sleep(0.3)
            connection = http.client.HTTPConnection(target.hostname or "", target.port, timeout=60)
            # The signature covers the host, so it stays the one that the client has named.
            connection.putrequest(self.command, self.path, skip_host=True, skip_accept_encoding=True)
            for name, value in self.headers.items():
                if name.lower() != strips:
                    connection.putheader(name, value)
            connection.endheaders(body)
            response = connection.getresponse()
            content = response.read()
            connection.close()
            if fault == "response lost":
                return self.cut()
            kept = {"transfer-encoding", "connection", "date", "server"}
            headers = [(name, value) for name, value in response.getheaders() if name.lower() not in kept]
            return self.answer(response.status, headers, content, broken=fault == "broken off")

        def answer(self, status: int, headers: list[tuple[str, str]], content: bytes, broken: bool = False) -> None:
            self.send_response(status)
            for name, value in headers:
                self.send_header(name, value)
            if not any(name.lower() == "content-length" for name, _ in headers):
                self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(content[: len(content) // 2] if broken else content)
            if broken:
                self.cut()

        def cut(self) -> None:
            self.close_connection = True
            self.wfile.flush()
            self.connection.shutdown(socket.SHUT_RDWR)

        def log_message(self, *_: Any) -> None:
            pass

        do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = handle_one  # noqa: N815

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield Proxy(f"http://127.0.0.1:{server.server_port}", total, faults)
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
