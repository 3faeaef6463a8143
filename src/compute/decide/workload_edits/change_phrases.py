"""The changes that a write makes to a Workload, as phrases for users."""

from collections.abc import Iterator, Mapping
from typing import Final

from compute.api.compute import Workload
from compute.api.instance_spec import Container
from compute.decide.workload import spec_diff
from compute.decide.workload_edits.manifests import TRANSIENT

_ABSENT: Final = "none"


def phrases(existing: Workload | None, wanted: Workload) -> tuple[str, ...]:
    """One phrase for each change; for a new Workload, what it runs. Values of variables are not shown."""
    if existing is None:
        return tuple(_description(wanted))
    before, after = existing.metadata, wanted.metadata
    return (
        *spec_diff.describe(existing.spec, wanted.spec),
        *_changes("label", before.labels, after.labels),
        *_changes("annotation", _shown(before.annotations), _shown(after.annotations)),
    )


def _shown(known: Mapping[str, str]) -> dict[str, str]:
    return {key: value for key, value in known.items() if key not in TRANSIENT}


def _changes(what: str, old: dict[str, str], new: dict[str, str]) -> Iterator[str]:
    for key in sorted(old | new):
        if old.get(key) != new.get(key):
            yield f"{what} {key}: {old.get(key, _ABSENT)} → {new.get(key, _ABSENT)}"


def _description(workload: Workload) -> Iterator[str]:
    spec = workload.spec.template.spec
    sandbox = spec.runtime.sandbox
    for container in sandbox.containers if sandbox else ():
        yield from _container(container, named=sandbox is not None and len(sandbox.containers) > 1)
    if sandbox is None:
        yield "virtual machine"
    yield f"instance type: {spec.runtime.resources.instance_type}"
    yield f"network: {', '.join(each.network.name for each in spec.network_interfaces)}"


def _container(container: Container, *, named: bool) -> Iterator[str]:
    which = f" of {container.name}" if named else ""
    yield f"image{which}: {container.image}"
    if container.ports:
        ports = ", ".join(f"{p.name} {p.port}/{p.protocol or 'TCP'}" for p in container.ports)
        yield f"ports{which}: {ports}"
    if container.env:
        yield f"env{which}: {', '.join(v.name for v in container.env)} (values not shown)"
