"""The kinds that a plane knows without being told: Kubernetes' own, and ours with their neighbours.

Their schemas, with the descriptions that only sources hold, are in ``schemas.json``, which
``tools/generate.py`` makes. It is read when a set of kinds is first asked for.
"""

from collections.abc import Callable, Iterable
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any, Final

import msgspec

from compute.api.coordination import Lease
from compute.api.core import ConfigMap, Namespace, Secret, ServiceAccount
from compute.api.events import CoreEvent, Event
from compute.api.fields import FieldError
from compute.api.meta import Object
from compute.api.structural_nodes import Document
from compute.plane.registry import builtinrules, eventrules, eventviews
from compute.plane.registry.conformance import MOST_ERRORS
from compute.plane.registry.crds import kinds_of
from compute.plane.registry.kinds import Kind, Kinds, Prepare, head_of

_SCHEMAS: Final = Path(__file__).with_name("schemas.json")
_Rules = Callable[[Document, Document | None], Iterable[FieldError]]
_RULES: Final[tuple[tuple[type[Object], _Rules], ...]] = (
    (Namespace, builtinrules.namespace),
    (ConfigMap, builtinrules.config_map),
    (Secret, builtinrules.secret),
    (ServiceAccount, builtinrules.service_account),
    (CoreEvent, eventrules.core_event),
    (Event, eventrules.new_event),
    (Lease, builtinrules.lease),
)


@cache
def core() -> tuple[Kind, ...]:
    """Namespace, ConfigMap, Secret, ServiceAccount, Event in both shapes, Lease."""
    return tuple(_builtin(kind, _prepare(rules)) for kind, rules in _RULES)


@cache
def compute() -> tuple[Kind, ...]:
    """Workload, WorkloadDeployment, Instance."""
    return _custom("compute")


@cache
def neighbours() -> tuple[Kind, ...]:
    """The kinds of networks, quota, services and projects that we work with."""
    return _custom("neighbours")


@cache
def karmada() -> tuple[Kind, ...]:
    """The kinds by which a hub spreads objects over clusters."""
    return _custom("karmada")


@cache
def everything() -> Kinds:
    """All of these sets together."""
    return Kinds((*core(), *compute(), *neighbours(), *karmada()))


def _prepare(rules: _Rules) -> Prepare:
    """The rules, of which as many errors are told as anybody reads."""
    return lambda document, old: list(islice(rules(document, old), MOST_ERRORS))


def _builtin(kind: type[Object], prepare: Prepare) -> Kind:
    resource = kind.RESOURCE
    is_view = kind is Event
    return Kind(
        resource=resource,
        schema=_content()["schemas"][f"{resource.api_version}/{resource.kind}"],
        storage="/events" if is_view else f"{resource.group}/{resource.plural}",
        head=head_of(resource),
        custom=False,
        conversion=eventviews.VIEW if is_view else None,
        prepare=prepare,
    )


def _custom(name: str) -> tuple[Kind, ...]:
    return tuple(kind for document in _content()["crds"][name] for kind in kinds_of(document))


@cache
def _content() -> dict[str, Any]:
    content: dict[str, Any] = msgspec.json.decode(_SCHEMAS.read_bytes())
    return content
