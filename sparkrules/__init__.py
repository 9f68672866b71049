"""Thousands of SQL WHERE expressions, matched against every row of a Spark table in one pass.

>>> rules = RuleSet("alerts")
>>> rules.subscribe("hot", "temperature > 30 AND NOT indoors")
>>> len(rules)
1
"""

from sparkrules.catalyst.backtest import Backtest
from sparkrules.catalyst.dataframe import left_out, match, matches, rule_costs, rule_errors
from sparkrules.catalyst.detection import detect
from sparkrules.catalyst.following import Following, follow
from sparkrules.catalyst.jar import jar_path
from sparkrules.catalyst.match_log import log_matches
from sparkrules.catalyst.rule_metrics import RuleMetrics, RuleRun
from sparkrules.catalyst.session import configure
from sparkrules.errors import (
    CorruptStore,
    DuplicateId,
    NewerFormat,
    PluginMissing,
    PublishConflict,
    RuleSetError,
    ServerError,
    SetupError,
    SparkRulesError,
    StoreError,
    UnknownId,
    UnknownOrOwned,
    WrongTicket,
)
from sparkrules.lint import Baseline, Finding, Report
from sparkrules.local import Detections, NeedsSpark, Selectivities, UnknownColumn
from sparkrules.logic import Selectivity
from sparkrules.patterns import Pattern
from sparkrules.rules import Advertisement, Advertisements, OverlappingPair, ScanFilter, StrictPublishError, Synced
from sparkrules.ruleset import RuleSet
from sparkrules.sql import Policy, Rejected, RuleError
from sparkrules.store import Store

__version__ = "0.1.0"

__all__ = [
    "Advertisement",
    "Advertisements",
    "Backtest",
    "Baseline",
    "CorruptStore",
    "Detections",
    "DuplicateId",
    "Finding",
    "Following",
    "NeedsSpark",
    "NewerFormat",
    "OverlappingPair",
    "Pattern",
    "PluginMissing",
    "Policy",
    "PublishConflict",
    "Rejected",
    "Report",
    "RuleError",
    "RuleMetrics",
    "RuleRun",
    "RuleSet",
    "RuleSetError",
    "ScanFilter",
    "Selectivities",
    "Selectivity",
    "ServerError",
    "SetupError",
    "SparkRulesError",
    "Store",
    "StoreError",
    "StrictPublishError",
    "Synced",
    "UnknownColumn",
    "UnknownId",
    "UnknownOrOwned",
    "WrongTicket",
    "__version__",
    "configure",
    "detect",
    "follow",
    "jar_path",
    "left_out",
    "log_matches",
    "match",
    "matches",
    "rule_costs",
    "rule_errors",
]
