"""The kinds that a plane knows without being told: Kubernetes' own, and ours with their neighbours.

Their schemas, with the descriptions that only sources hold, are in ``schemas.json``, which
``tools/generate.py`` makes. It is read when a set of kinds is first asked for.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any, Final

import msgspec

from compute.api.admission import MutatingWebhookConfiguration, ValidatingWebhookConfiguration
from compute.api.apiextensions import CustomResourceDefinition
from compute.api.authentication import SelfSubjectReview, TokenRequest, TokenReview
from compute.api.authorization import (
    LocalSubjectAccessReview,
    SelfSubjectAccessReview,
    SelfSubjectRulesReview,
    SubjectAccessReview,
)
from compute.api.coordination import Lease
from compute.api.core import ConfigMap, Namespace, Secret, ServiceAccount
from compute.api.events import CoreEvent, Event
from compute.api.fields import FieldError
from compute.api.meta import Object
from compute.api.rbac import ClusterRole, ClusterRoleBinding, Role, RoleBinding
from compute.api.structural_nodes import Document
from compute.plane.registry import (
    accessrules,
    builtinrules,
    eventrules,
    eventviews,
    matchconditions,
    webhookrules,
)
from compute.plane.registry.conformance import MOST_ERRORS
from compute.plane.registry.crds import kinds_of
from compute.plane.registry.definitions import birth
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
    (MutatingWebhookConfiguration, webhookrules.mutating(matchconditions.fault)),
    (ValidatingWebhookConfiguration, webhookrules.validating(matchconditions.fault)),
    (CustomResourceDefinition, birth.prepare),
)
_ACCESS_RULES: Final[tuple[tuple[type[Object], _Rules], ...]] = (
    (Role, accessrules.role),
    (ClusterRole, accessrules.cluster_role),
    (RoleBinding, accessrules.role_binding),
    (ClusterRoleBinding, accessrules.cluster_role_binding),
)
_REVIEWS: Final[tuple[type[Object], ...]] = (
    SubjectAccessReview,
    LocalSubjectAccessReview,
    SelfSubjectAccessReview,
    SelfSubjectRulesReview,
    TokenReview,
    SelfSubjectReview,
)
# What is asked about one object of a kind, by the subresource at which it is asked.
_QUESTIONS: Final[Mapping[type[Object], Mapping[str, type[Object]]]] = {
    ServiceAccount: {"token": TokenRequest},
}


@cache
def core() -> tuple[Kind, ...]:
    """Namespace, ConfigMap, Secret, ServiceAccount, Event in both shapes, Lease, webhooks, CRDs."""
    return tuple(_builtin(kind, _prepare(rules)) for kind, rules in _RULES)


@cache
def access() -> tuple[Kind, ...]:
    """Role, ClusterRole, and the bindings of both."""
    return tuple(_builtin(kind, _prepare(rules)) for kind, rules in _ACCESS_RULES)


@cache
def reviews() -> tuple[Kind, ...]:
    """The questions that are asked by creating them: who may do what, and who is who."""
    return tuple(_question(kind) for kind in _REVIEWS)


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
    return Kinds((*core(), *access(), *reviews(), *compute(), *neighbours(), *karmada()))


@cache
def native() -> Kinds:
    """Kubernetes' own kinds alone. The others can be served by their `definitions`."""
    return Kinds(tuple(kind for kind in everything() if not kind.custom))


def definitions() -> tuple[Document, ...]:
    """The CustomResourceDefinitions of ours and of our neighbours. Nobody may change them."""
    return tuple(document for some in _content()["crds"].values() for document in some)


def _prepare(rules: _Rules) -> Prepare:
    """The rules, of which as many errors are told as anybody reads."""
    return lambda document, old: list(islice(rules(document, old), MOST_ERRORS))


def _builtin(kind: type[Object], prepare: Prepare) -> Kind:
    resource = kind.RESOURCE
    is_view = kind is Event
    shape = birth.DefinitionKind if kind is CustomResourceDefinition else Kind
    return shape(
        resource=resource,
        schema=_content()["schemas"][f"{resource.api_version}/{resource.kind}"],
        storage="/events" if is_view else f"{resource.group}/{resource.plural}",
        head=head_of(resource),
        custom=False,
        conversion=eventviews.VIEW if is_view else None,
        prepare=prepare,
        questions={name: _question(asked) for name, asked in _QUESTIONS.get(kind, {}).items()},
    )


def _question(kind: type[Object]) -> Kind:
    resource = kind.RESOURCE
    return Kind(
        resource=resource,
        schema=_content()["schemas"][f"{resource.api_version}/{resource.kind}"],
        storage=f"{resource.group}/{resource.plural}",
        head=head_of(resource),
        custom=False,
        virtual=True,
    )


def _custom(name: str) -> tuple[Kind, ...]:
    return tuple(kind for document in _content()["crds"][name] for kind in kinds_of(document))


@cache
def _content() -> dict[str, Any]:
    content: dict[str, Any] = msgspec.json.decode(_SCHEMAS.read_bytes())
    return content
