"""What users write, on its way into a rule set: sources, checked fields, validity, compiled content."""

from sparkrules.rules.advertised import Advertisement
from sparkrules.rules.as_written import as_written
from sparkrules.rules.overlapping import OverlappingPair, OverlapQuestions
from sparkrules.rules.sources import read_rules
from sparkrules.rules.table_schema import arrow_schema

__all__ = ["Advertisement", "OverlapQuestions", "OverlappingPair", "arrow_schema", "as_written", "read_rules"]
