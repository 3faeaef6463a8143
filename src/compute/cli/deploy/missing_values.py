"""ConfigMaps and Secrets that workloads of a deploy need and that do not exist: a warning of the plan."""

import asyncio
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from compute.api.compute import Workload
from compute.cli.change.planned_changes import PlannedChange
from compute.cli.invocation import typed
from compute.cli.shell.session import Session
from compute.decide.value_references import references
from kubekit.api.errors import Forbidden
from kubekit.api.kinds.core import ConfigMap, Secret


class NeededValues(NamedTuple):
    """A ConfigMap or Secret that a template names."""

    kind: type[ConfigMap | Secret]
    namespace: str
    name: str

    @property
    def warning(self) -> str:
        create = typed(f"compute {self.kind.RESOURCE.plural} set {self.name} KEY=VALUE")
        return f"{self.kind.RESOURCE.kind} {self.name} does not exist yet. Create it with: {create}"


async def missing_values(session: Session, changes: Iterable[PlannedChange]) -> tuple[str, ...]:
    """A warning for each that neither the server has nor the deploy creates."""
    changes = tuple(changes)
    made = {(type(c.wanted), c.wanted.metadata.namespace, c.wanted.metadata.name) for c in changes}
    needed = dict.fromkeys(each for change in changes for each in _needed(change))
    asked = [each for each in needed if tuple(each) not in made]
    lacks = await asyncio.gather(*(_is_missing(session, each) for each in asked))
    return tuple(each.warning for each, is_missing in zip(asked, lacks, strict=True) if is_missing)


def _needed(change: PlannedChange) -> Iterator[NeededValues]:
    workload = change.wanted
    if not isinstance(workload, Workload) or not change.is_change:
        return
    kinds: tuple[type[ConfigMap | Secret], ...] = (ConfigMap, Secret)
    for kind in kinds:
        for reference in references(kind, workload):
            yield NeededValues(kind, workload.metadata.namespace, reference.name)


async def _is_missing(session: Session, values: NeededValues) -> bool:
    try:
        return await session.client.find(values.kind, values.name, values.namespace) is None
    except Forbidden:
        return False
