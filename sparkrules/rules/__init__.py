"""What users write, on its way into a rule set: sources, checked fields, validity, tickets, compiled content."""

from sparkrules.rules.advertised import Advertisement
from sparkrules.rules.advertisements import Advertisements
from sparkrules.rules.as_written import as_written
from sparkrules.rules.overlapping import OverlappingPair, OverlapQuestions
from sparkrules.rules.publication import Publication
from sparkrules.rules.rule_tests import InvalidTest, RuleTest, read_tests
from sparkrules.rules.scan_filter import ScanFilter
from sparkrules.rules.sources import read_rules
from sparkrules.rules.strict import StrictPublishError
from sparkrules.rules.sync import Synced
from sparkrules.rules.table_schema import arrow_schema

__all__ = [
    "Advertisement",
    "Advertisements",
    "InvalidTest",
    "OverlapQuestions",
    "OverlappingPair",
    "Publication",
    "RuleTest",
    "ScanFilter",
    "StrictPublishError",
    "Synced",
    "arrow_schema",
    "as_written",
    "read_rules",
    "read_tests",
]
