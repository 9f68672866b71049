"""Reads and writes published versions of rule sets, in the format of `docs/store-format.md`. Independent of Spark."""

from sparkrules.store.changes import CONTENT, Changes, differing, live_rules
from sparkrules.store.garbage import Garbage
from sparkrules.store.list_files import ListVersion
from sparkrules.store.location import STORE_VARIABLE, default_store, local_path, path_in_spark, store_path
from sparkrules.store.manifest import Manifest, SegmentEntry
from sparkrules.store.merge_policy import Merge
from sparkrules.store.names import check_name
from sparkrules.store.object_path import ObjectPath
from sparkrules.store.overlap_files import OverlapPlan
from sparkrules.store.overlaps_file import Pairs
from sparkrules.store.part import Part, merged
from sparkrules.store.patterns_file import StoredPatterns
from sparkrules.store.place import Place
from sparkrules.store.publication import Draft, Version, publish_draft
from sparkrules.store.store import Store
from sparkrules.store.tickets import read_key

__all__ = [
    "CONTENT",
    "STORE_VARIABLE",
    "Changes",
    "Draft",
    "Garbage",
    "ListVersion",
    "Manifest",
    "Merge",
    "ObjectPath",
    "OverlapPlan",
    "Pairs",
    "Part",
    "Place",
    "SegmentEntry",
    "Store",
    "StoredPatterns",
    "Version",
    "check_name",
    "default_store",
    "differing",
    "live_rules",
    "local_path",
    "merged",
    "path_in_spark",
    "publish_draft",
    "read_key",
    "store_path",
]
