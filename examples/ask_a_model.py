"""Rules that ask a model: a server scores texts, a pandas UDF asks it, and only for rows in which a rule needs it.

python examples/ask_a_model.py
"""

from __future__ import annotations

import json
import math
import os
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pandas as pd
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import pandas_udf

import sparkrules
from sparkrules import Policy

RULES = [
    ("call back", "plan = 'enterprise' AND urgency(message) > 0.7", 10),
    ("forgotten", "plan = 'pro' AND days_open > 25 AND urgency(message) > 0.4", 5),
    ("not scored", "plan = 'enterprise' AND urgency(message) IS NULL", 1),
    ("very old", "days_open > 28", 0),
]

TICKETS = """
SELECT id,
  CASE WHEN id % 50 = 0 THEN 'enterprise' WHEN id % 5 = 1 THEN 'pro' ELSE 'free' END AS plan,
  CAST(id % 30 AS INT) AS days_open,
  CASE id % 7 WHEN 0 THEN 'Shop ' || id || ' is down and we lose money: help now'
              WHEN 1 THEN 'How can I change the colour of shop ' || id || '?'
              WHEN 2 THEN 'It is urgent that shop ' || id || ' can sell again'
              ELSE 'Thank you' END AS message
FROM range(20000)"""


@dataclass
class Seen:
    """What the server was asked."""

    requests: int = 0
    texts: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)


def model_server(seen: Seen) -> ThreadingHTTPServer:
    """A server that scores a list of texts. It is overloaded when it gets its first request."""
    weights = {"down": 2.0, "money": 1.0, "now": 1.5, "urgent": 2.5, "help": 1.0, "colour": -1.0, "thank": -3.0}

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            texts = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            with seen.lock:
                seen.requests += 1
                is_first = seen.requests == 1
                seen.texts += 0 if is_first else len(texts)
            sums = (sum(weights.get(word, 0.0) for word in text.lower().split()) for text in texts)
            scores = [1 / (1 + math.exp(1 - own)) for own in sums]
            self.send_response(503 if is_first else 200)
            self.end_headers()
            self.wfile.write(json.dumps(scores).encode())

        def log_message(self, *_: object) -> None:
            """Print nothing for a request."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def asking(url: str, most: int = 100, timeout: float = 5.0, tries: int = 3) -> Callable[[pd.Series], pd.Series]:
    """A function that asks the server for the scores of a batch of texts, `most` in a request; NULL if it fails."""

    def ask(texts: list[str]) -> list[float | None]:
        for attempt in range(tries):
            try:
                request = urllib.request.Request(url, json.dumps(texts).encode())
                with urllib.request.urlopen(request, timeout=timeout) as answer:
                    return json.load(answer)
            except (OSError, ValueError):  # no answer in time, an error of the server, or not JSON
                time.sleep(0.1 * 2**attempt)
        return [None] * len(texts)

    def urgency(texts: pd.Series) -> pd.Series:
        known = texts.dropna()
        parts = (known.iloc[start : start + most].tolist() for start in range(0, len(known), most))
        scores = [score for part in parts for score in ask(part)]
        return pd.Series(scores, known.index, "float64").reindex(texts.index)

    return urgency


def python_metrics(df: DataFrame) -> dict[str, int]:
    """What a query that has run tells of its calls of Python functions, as the Spark UI shows it."""
    plan = df._jdf.queryExecution().executedPlan()
    while not plan.nodeName().startswith("Match"):
        plan = plan.children().apply(0)
    return {name: plan.metrics().apply(name).value() for name in ("calls", "callsSaved", "callsRefused")}


def main(spark: SparkSession) -> dict[str, int]:
    """How many tickets each rule matches."""
    tickets = spark.sql(TICKETS)
    seen = Seen()
    server = model_server(seen)
    url = f"http://127.0.0.1:{server.server_address[1]}"
    spark.udf.register("urgency", pandas_udf(asking(url), "double"))
    policy = Policy(extra_functions={"urgency"}, costs={"urgency": 2000}, max_calls=5000)
    rules = sparkrules.RuleSet("tickets", policy=policy)
    rules.subscribe_all(RULES)
    assert rules.rejected == []

    matched = sparkrules.match(tickets, rules).select("id", "matches.ids")
    found: dict[str, int] = {}
    for row in matched.collect():
        for id in row.ids:
            found[id] = found.get(id, 0) + 1
    print(found)
    calls = python_metrics(matched)
    print(f"{tickets.count()} rows; the server saw {seen.texts} texts in {seen.requests} requests, one of which failed")
    print(f"metrics: {calls}")
    assert calls["calls"] == seen.texts < 1000
    assert found.keys() == {"call back", "forgotten", "very old"}  # the server answered when it was asked again

    print("With at most 200 calls in a query:")
    seen.texts = 0
    few = sparkrules.RuleSet("few_calls", policy=Policy(extra_functions={"urgency"}, max_calls=200))
    few.subscribe_all(RULES)
    limited = sparkrules.match(tickets, few).select("id", "matches.ids")
    limited.collect()
    print(f"the server saw {seen.texts} texts; metrics: {python_metrics(limited)}")
    assert seen.texts == 200
    errors = sparkrules.rule_errors(tickets, few).selectExpr("subscription_id AS rule", "message")
    errors.groupBy("rule", "message").count().orderBy("rule").show(truncate=False)

    server.shutdown()
    spark.sql("DROP TEMPORARY FUNCTION urgency")
    return found


if __name__ == "__main__":
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # the workers need pandas and pyarrow, too
    with tempfile.TemporaryDirectory() as store:
        main(sparkrules.configure(SparkSession.builder.master("local[2]"), store=store).getOrCreate())
