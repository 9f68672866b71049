"""Errors of Java without PySpark's conversion."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import py4j.java_gateway
import py4j.protocol


@contextmanager
def plain_java_errors() -> Iterator[None]:
    """In the block, errors of Java are raised as `Py4JJavaError`.

    PySpark asks Java twenty questions about each, to make a Python error of it. A test that provokes hundreds of errors
    takes several times as long with that.
    """
    converting = py4j.java_gateway.get_return_value
    py4j.java_gateway.get_return_value = py4j.protocol.get_return_value
    try:
        yield
    finally:
        py4j.java_gateway.get_return_value = converting
