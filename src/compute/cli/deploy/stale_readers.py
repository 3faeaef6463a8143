"""Workloads that keep old values of a ConfigMap or Secret which files have changed, until a restart."""

from collections.abc import Iterable, Iterator

from compute.api.compute import Workload
from compute.cli.change.planned_changes import PlannedChange
from compute.cli.shell.session import Session
from compute.decide.stored_values import Store, values_of
from compute.decide.value_references import users
from compute.decide.workload_edits import Effect, effects
from compute.views.reading import ProjectReader
from kubekit.api.kinds.core import ConfigMap, Secret


async def stale_readers(
    session: Session, changes: Iterable[PlannedChange]
) -> tuple[tuple[str, str], ...]:
    """Each changed object with a Workload that has to be restarted to read it."""
    changed = list(_changed(changes))
    if not changed:
        return ()
    workloads = await ProjectReader(session.client, session.namespace).if_served(Workload) or ()
    restarted = {name for change in changes for name in _replaced(change)}
    return tuple(
        (f"{store.kind.lower()}/{store.metadata.name}", user.workload)
        for store, keys in changed
        if store.metadata.namespace == session.namespace
        for user in users(type(store), store.metadata.name, workloads, keys)
        if user.needs_restart and user.workload not in restarted
    )


def _changed(changes: Iterable[PlannedChange]) -> Iterator[tuple[Store, list[str]]]:
    """The ConfigMaps and Secrets whose values change, with the keys that do."""
    for change in changes:
        before, after = change.existing, change.wanted
        if isinstance(before, ConfigMap | Secret) and isinstance(after, ConfigMap | Secret):
            old, new = values_of(before), values_of(after)
            keys = [key for key in sorted(old | new) if old.get(key) != new.get(key)]
            if keys:
                yield after, keys


def _replaced(change: PlannedChange) -> Iterator[str]:
    """The Workload, if all of its Instances are new after the change."""
    before, after = change.existing, change.wanted
    if isinstance(after, Workload):
        known = before if isinstance(before, Workload) else None
        found = effects(known, after)
        if not any(effect.effect in {Effect.KEEP, Effect.SCALE} for effect in found):
            yield after.metadata.name
