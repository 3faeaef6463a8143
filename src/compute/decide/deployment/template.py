"""From a template to an Instance, and the hash that shows which template an Instance has.

The hash depends on the meaning of the template, not on its spelling or the release that reads it. An
absent field and an explicit default hash alike, so a new optional field causes no rollout.
"""

import copy
import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Final, get_args

import msgspec
from msgspec import NODEFAULT
from msgspec.structs import FieldInfo

from compute.api import annotations, labels, names
from compute.api.compute import Instance, WorkloadDeployment
from compute.api.instance_spec import InstanceController, InstanceTemplate, SchedulingGate
from compute.decide.deployment import replacements
from kubekit.api.meta import ObjectMeta
from kubekit.api.quantity import Quantity, QuantityError
from kubekit.api.wire import INT_OR_STRING_QUANTITY, Rule

_HASH_DIGITS: Final = 16
_RESTARTED_AT: Final = annotations.RESTARTED_AT


def canonical(template: InstanceTemplate) -> bytes:
    """The canonical JSON of a template: templates of the same meaning have the same text.

    A field that equals its default, Python's or the CRD's, is left out, and amounts are written by
    value. Lists keep their order, because the order of containers can matter. An optional object
    is kept even when it is empty: `networkPolicy: {}` denies all traffic, its absence does not. In
    doubt the texts differ, since a needless rollout costs a restart and a missed one leaves the
    wrong template running.
    """
    spec = msgspec.structs.replace(template.spec, controller=None, location=None)
    bare = msgspec.structs.replace(template, spec=spec)
    return json.dumps(_plain(bare), sort_keys=True, separators=(",", ":")).encode()


def template_hash(template: InstanceTemplate) -> str:
    """The template's identity: 64 bits, the same in every release."""
    return hashlib.sha256(canonical(template)).hexdigest()[:_HASH_DIGITS]


def unstamped_hash(template: InstanceTemplate) -> str:
    """The hash of the template without its restart stamp: a restart does not change it."""
    return template_hash(restamped(template, None))


def restart_stamp(template: InstanceTemplate) -> str:
    """When the template was last restarted, as it is written; empty when it never was."""
    return template.metadata.annotations.get(_RESTARTED_AT, "")


def restamped(template: InstanceTemplate, stamp: str | None) -> InstanceTemplate:
    """The template with this restart stamp, or with none."""
    others = {k: v for k, v in template.metadata.annotations.items() if k != _RESTARTED_AT}
    known = others if stamp is None else others | {_RESTARTED_AT: stamp}
    metadata = msgspec.structs.replace(template.metadata, annotations=known)
    return msgspec.structs.replace(template, metadata=metadata)


def recorded_hash(instance: Instance) -> str:
    """The hash of the template the Instance was created from; empty when none was recorded."""
    return instance.spec.controller.template_hash if instance.spec.controller else ""


def matches(deployment: WorkloadDeployment, instance: Instance) -> bool:
    """Whether the Instance was created from the deployment's present template."""
    return recorded_hash(instance) == template_hash(deployment.spec.template)


def controller_labels(deployment: WorkloadDeployment, ordinal: int) -> dict[str, str]:
    """Labels that select the Instance in a slot, whatever the labels of its template."""
    spec = deployment.spec
    return {
        labels.INSTANCE_INDEX: str(ordinal),
        labels.WORKLOAD_UID: spec.workload_ref.uid,
        labels.WORKLOAD_NAME: spec.workload_ref.name,
        labels.DEPLOYMENT_UID: deployment.metadata.uid,
        labels.DEPLOYMENT_NAME: deployment.metadata.name,
        labels.PLACEMENT_NAME: spec.placement_name,
        labels.CITY_CODE: spec.city_code,
    }


def instance_builder(
    deployment: WorkloadDeployment, gates: Sequence[str]
) -> Callable[[int], Instance]:
    """A function that builds the Instance for a slot, with these gates.

    The common parts are built once. They share no dict with the template.
    """
    template = copy.deepcopy(deployment.spec.template)
    spec = msgspec.structs.replace(
        template.spec,
        location=deployment.status.location,
        controller=InstanceController(
            template_hash=template_hash(template),
            scheduling_gates=tuple(SchedulingGate(name=gate) for gate in gates),
        ),
    )
    owners = (deployment.reference(controller=True, block_owner_deletion=True),)
    stamps = replacements.stamps(deployment)

    def build(ordinal: int) -> Instance:
        metadata = ObjectMeta(
            name=names.instance(deployment.metadata.name, ordinal),
            namespace=deployment.metadata.namespace,
            labels=template.metadata.labels | controller_labels(deployment, ordinal),
            annotations=replacements.stamped(template.metadata.annotations, stamps.get(ordinal)),
            owner_references=owners,
        )
        return Instance(metadata=metadata, spec=spec)

    return build


def build_instance(deployment: WorkloadDeployment, ordinal: int, gates: Sequence[str]) -> Instance:
    """The Instance for one slot, with these gates."""
    return instance_builder(deployment, gates)(ordinal)


class _Field(msgspec.Struct, frozen=True):
    name: str
    key: str
    amounts: bool  # every text and number in it is a quantity
    defaults: tuple[object, ...]  # in canonical form


def _plain(value: object, *, amounts: bool = False) -> object:
    """The value as plain JSON in canonical form."""
    match value:
        case msgspec.Struct():
            return dict(_items(value))
        case dict():
            return {key: _plain(item, amounts=amounts) for key, item in value.items()}
        case tuple() | list():
            return [_plain(item, amounts=amounts) for item in value]
        case int() | str() if amounts:
            return _amount(value)
        case _:
            return value


def _items(struct: msgspec.Struct) -> Iterator[tuple[str, object]]:
    for field in _fields(type(struct)):
        value = _plain(getattr(struct, field.name), amounts=field.amounts)
        if value not in field.defaults:
            yield field.key, value


@cache
def _fields(kind: type[msgspec.Struct]) -> tuple[_Field, ...]:
    return tuple(_described(info) for info in msgspec.structs.fields(kind))


def _described(info: FieldInfo) -> _Field:
    rules = tuple(_rules(info.type))
    amounts = any(rule.pattern == INT_OR_STRING_QUANTITY for rule in rules)
    known = [rule.default for rule in rules if rule.default is not None]
    if info.default is not NODEFAULT:
        known.append(info.default)
    if info.default_factory is not NODEFAULT:
        known.append(info.default_factory())
    defaults = tuple(_plain(default, amounts=amounts) for default in known)
    return _Field(info.name, info.encode_name, amounts, defaults)


def _rules(annotation: object) -> Iterator[Rule]:
    """Every rule in an annotation, that of the amounts in a map included."""
    for part in get_args(annotation):
        if isinstance(part, Rule):
            yield part
        else:
            yield from _rules(part)


def _amount(value: int | str) -> int | str:
    """The amount by value, so that 1000m is 1; text that is no quantity stays as it is."""
    try:
        return str(Quantity(Quantity.parse(value).nanos))
    except QuantityError:
        return value
