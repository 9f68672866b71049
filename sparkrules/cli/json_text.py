"""Values as JSON: dates as ISO strings, decimals as strings, and NaN, which JSON does not have, as a string."""

from __future__ import annotations

import json
import math
from datetime import date, datetime, time
from typing import Any


def json_text(value: Any, *, indent: int | None = None) -> str:
    """One JSON document.

    >>> from decimal import Decimal
    >>> json_text({"day": date(2024, 5, 1), "price": Decimal("1.50"), "x": float("nan"), "name": "é"})
    '{"day": "2024-05-01", "price": "1.50", "x": "NaN", "name": "é"}'
    """
    return json.dumps(_plain(value), ensure_ascii=False, indent=indent)


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, (str, bool, int)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}[str(value)]
    if isinstance(value, dict):
        return {str(key): _plain(own) for key, own in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(own) for own in value]
    if isinstance(value, bytes):
        return value.hex()
    return value.isoformat() if isinstance(value, (date, datetime, time)) else str(value)
