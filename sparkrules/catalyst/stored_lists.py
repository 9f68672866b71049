"""The reference lists of a published rule set, for engines without the plugin: each is read when it is first needed."""

from __future__ import annotations

from sparkrules.errors import StoreError
from sparkrules.local.reference_list import Lists, ListTest, reference_list
from sparkrules.logic.columns import Unsupported
from sparkrules.store import Store


def stored_lists(store: Store, rule_set: str) -> Lists:
    """The lists as they are when they are first asked for."""
    known: dict[str, ListTest] = {}

    def of(name: str) -> ListTest:
        if name not in known:
            try:
                version = store.list_of(rule_set, name)
                values = store.list_values(rule_set, version).to_pylist()
            except StoreError as error:
                raise Unsupported(str(error)) from error
            known[name] = reference_list(str(version.kind), values)
        return known[name]

    return of
