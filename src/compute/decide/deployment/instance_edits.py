"""What was changed by hand in the spec of an Instance, and the Instance without the change.

An Instance with the hash of the template has the template's spec, except for its location and its
controller's part, which the system writes. Any other difference was made by hand. It does not change
the machine, whose spec was fixed at its start, and it would be lost with the Instance. So the spec is
restored. Instances of an earlier template are not compared: they are about to be replaced.
"""

from collections.abc import Iterator
from functools import cached_property
from typing import Final

import msgspec

from compute.api.compute import Instance
from compute.api.conditions import ConditionType
from compute.api.instance_spec import InstanceSpec, InstanceTemplate
from compute.decide.conditions import find
from compute.decide.deployment.template import canonical, recorded_hash, template_hash

_SHOWN: Final = 3  # fields in a message


class HashedTemplate:
    """The template of Instances. Its hash is computed once, and only when it is needed."""

    def __init__(self, template: InstanceTemplate) -> None:
        self.template = template

    @cached_property
    def hash(self) -> str:
        return template_hash(self.template)


def is_edited(instance: Instance, origin: HashedTemplate) -> bool:
    """Whether the spec differs from the template in more than spelling.

    Called for every Instance in every reconcile pass, so equal specs are not compared further.
    """
    own, wanted = instance.spec, origin.template.spec
    if (
        own.runtime == wanted.runtime
        and own.volumes == wanted.volumes
        and own.network_interfaces == wanted.network_interfaces
    ):
        return False
    return recorded_hash(instance) == origin.hash and _canonical(own) != _canonical(wanted)


def report_of(instance: Instance, origin: HashedTemplate) -> str:
    """The event note on an edit: the fields, and what to do if the machine may have the edit too.

    Values are left out: some are secret.
    """
    note = (
        f"{_edited_fields(instance, origin)} was changed by hand and is restored to the template: "
        "change the Workload instead"
    )
    if not _is_taken_up(instance):
        return note
    meta = instance.metadata
    return (
        f"{note}. The machine may run what was changed; "
        f"to create it again: kubectl delete instance {meta.name} -n {meta.namespace}"
    )


def restored(instance: Instance, origin: HashedTemplate) -> Instance:
    """The Instance with the spec of the template; unchanged where nothing was edited."""
    if not is_edited(instance, origin):
        return instance
    wanted = origin.template.spec
    spec = msgspec.structs.replace(
        instance.spec,
        runtime=wanted.runtime,
        volumes=wanted.volumes,
        network_interfaces=wanted.network_interfaces,
    )
    return msgspec.structs.replace(instance, spec=spec)


def _edited_fields(instance: Instance, origin: HashedTemplate) -> str:
    own, wanted = (_leaves(_canonical(spec)) for spec in (instance.spec, origin.template.spec))
    paths = sorted({path for path, _ in own ^ wanted})
    more = len(paths) - _SHOWN
    return ", ".join(paths[:_SHOWN]) + (f" and {more} more" if more > 0 else "")


def _is_taken_up(instance: Instance) -> bool:
    """Whether the provider has started the Instance as it is now, changes included."""
    programmed = find(instance.status.conditions, ConditionType.PROGRAMMED)
    return (
        programmed is not None
        and programmed.status == "True"
        and programmed.observed_generation == instance.metadata.generation
    )


def _canonical(spec: InstanceSpec) -> bytes:
    return canonical(InstanceTemplate(spec=spec))


def _leaves(text: bytes) -> set[tuple[str, str]]:
    return set(_flattened("spec", msgspec.json.decode(text)["spec"]))


def _flattened(path: str, value: object) -> Iterator[tuple[str, str]]:
    """Every leaf by its path. Entries of a list are distinguished by name where they have one."""
    match value:
        case dict() if value:
            for key, inner in value.items():
                yield from _flattened(f"{path}.{key}", inner)
        case list() if value:
            for index, inner in enumerate(value):
                name = inner.get("name", index) if isinstance(inner, dict) else index
                yield from _flattened(f"{path}[{name}]", inner)
        case _:
            yield path, msgspec.json.encode(value).decode()
