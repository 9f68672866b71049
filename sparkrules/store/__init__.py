"""Published versions of rule sets, as `docs/store-format.md` describes them. Knows nothing of Spark sessions."""

from sparkrules.store.location import default_store, local_path
from sparkrules.store.manifest import Manifest, SegmentEntry
from sparkrules.store.store import Store, check_name

__all__ = ["Manifest", "SegmentEntry", "Store", "check_name", "default_store", "local_path"]
