"""Detection rules on logs: many sources, one table, rules that look into texts; what fires first goes to the analyst.

python examples/detection_rules.py
"""

from __future__ import annotations

import tempfile

from pyspark.sql import SparkSession

import sparkrules

# Each rule: id, condition, severity as its priority, and what the analyst is to read.
RULES = [
    (
        "shell from a web server",
        "parent IN ('nginx', 'httpd') AND (endswith(image, '/bash') OR endswith(image, '/sh'))",
        90,
        {"advice": "isolate the host"},
    ),
    (
        "encoded command",
        "lower(image) LIKE '%powershell.exe' AND lower(command) RLIKE '-e(nc|ncodedcommand)? +[a-z0-9+/=]{20,}'",
        70,
        {"advice": "decode the argument"},
    ),
    (
        "backups deleted",
        "contains(lower(command), 'vssadmin') AND contains(lower(command), 'delete shadows')",
        80,
        {"advice": "look for encrypted files"},
    ),
    (
        "login by night",
        "event = 'login' AND outcome = 'success' AND hour(time) NOT BETWEEN 6 AND 20 AND user NOT LIKE 'svc-%'",
        20,
        {"advice": "ask the user"},
    ),
    (
        "root from outside",
        "event = 'login' AND user = 'root' AND NOT (source LIKE '10.%' OR source LIKE '192.168.%')",
        60,
        {"advice": "block the source"},
    ),
]

EVENTS = r"""
SELECT * FROM VALUES
  (1, TIMESTAMP '2025-03-01 10:15:00', 'process', 'www', NULL, '/usr/bin/bash', 'nginx', 'bash -i', NULL),
  (2, TIMESTAMP '2025-03-01 02:40:00', 'login', 'root', '203.0.113.9', NULL, NULL, NULL, 'success'),
  (3, TIMESTAMP '2025-03-01 02:41:00', 'login', 'svc-backup', '10.0.0.7', NULL, NULL, NULL, 'success'),
  (4, TIMESTAMP '2025-03-01 11:00:00', 'process', 'ann', NULL, r'C:\Windows\System32\cmd.exe', 'explorer.exe',
     'vssadmin.exe Delete Shadows /all', NULL),
  (5, TIMESTAMP '2025-03-01 11:02:00', 'process', 'ann', NULL, r'C:\Windows\PowerShell.exe', 'cmd.exe',
     'powershell -enc SQBFAFgAIAAoAE4AZQB3AC0A', NULL),
  (6, TIMESTAMP '2025-03-01 12:00:00', 'process', 'bob', NULL, '/usr/bin/bash', 'sshd', 'bash', NULL)
  AS t(id, time, event, user, source, image, parent, command, outcome)"""


def main(spark: SparkSession) -> dict[int, str]:
    """The most severe rule that fired, by event."""
    events = spark.sql(EVENTS)
    rules = sparkrules.RuleSet("detections")
    rules.subscribe_all(RULES)
    assert rules.rejected == []
    assert rules.lint(events).worst == "info"

    alerts = sparkrules.matches(events, rules).selectExpr("id", "priority AS severity", "subscription_id AS rule")
    alerts.orderBy("id", "rule").show(truncate=False)

    print("The worst of each event, with what to do:")
    worst = sparkrules.matches(events, rules, top=1).selectExpr("id", "subscription_id AS rule")
    known = spark.sql("SELECT id AS rule, metadata FROM sparkrules.detections.subscriptions")
    advised = worst.join(known, "rule").selectExpr("id", "rule", "get_json_object(metadata, '$.advice') AS advice")
    advised.orderBy("id").show(truncate=False)

    found = {row.id: row.rule for row in worst.collect()}
    assert found == {1: "shell from a web server", 2: "root from outside", 4: "backups deleted", 5: "encoded command"}
    assert alerts.count() == 5  # event 2 is also a login by night
    return found


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as store:
        main(sparkrules.configure(SparkSession.builder.master("local[2]"), store=store).getOrCreate())
