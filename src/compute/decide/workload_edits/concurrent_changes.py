"""Two clients that change one object: whether both changes can stand, and who made the other one.

A change was shown to its user before it is written. If the object changed meanwhile, the same flags
are applied to its newest version. That is the change the user has seen if it sets the same fields,
from the same values to the same values; otherwise it would undo, or be undone by, the other one.
"""

from collections.abc import Iterable
from typing import Final, NamedTuple

from compute.api import annotations
from compute.api.compute import Workload
from compute.decide.workload import spec_diff
from kubekit.api.meta import EPOCH, ManagedFieldsEntry, Object

_OWN: Final = frozenset({annotations.REVISION_NOTE})  # it names the version that it is for


class ChangePair(NamedTuple):
    """A Workload before and after a change."""

    before: Workload
    after: Workload


def is_same_change(shown: ChangePair, newest: ChangePair) -> bool:
    """Whether the change of the newest version is the one that was shown."""
    return _changed(shown) == _changed(newest)


def other_writer(before: Object | None, newest: Object) -> ManagedFieldsEntry | None:
    """The last writer between two versions, other than of a status; one of the spec, if there is any.

    Times are in seconds, so a second write by one client in the same second leaves no trace. Then it is
    the last one that wrote the spec at all.
    """
    known = before.metadata.managed_fields if before else ()
    entries = [entry for entry in newest.metadata.managed_fields if not entry.subresource]
    new = [entry for entry in entries if entry not in known]
    for group in (_of_spec(new), new, _of_spec(entries)):
        if group:
            return max(group, key=lambda entry: entry.time or EPOCH)
    return None


def _of_spec(entries: Iterable[ManagedFieldsEntry]) -> list[ManagedFieldsEntry]:
    return [entry for entry in entries if entry.fields_v1.spec is not None]


def _changed(pair: ChangePair) -> tuple[object, ...]:
    before, after = pair.before.metadata, pair.after.metadata
    keys = (before.annotations | after.annotations).keys() - _OWN
    return (
        spec_diff.leaf_changes(pair.before.spec, pair.after.spec),
        {k: (before.labels.get(k), after.labels.get(k)) for k in _differing(pair)},
        {
            key: (before.annotations.get(key), after.annotations.get(key))
            for key in keys
            if before.annotations.get(key) != after.annotations.get(key)
        },
    )


def _differing(pair: ChangePair) -> set[str]:
    before, after = pair.before.metadata.labels, pair.after.metadata.labels
    return {key for key in before | after if before.get(key) != after.get(key)}
