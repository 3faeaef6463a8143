"""The kinds that every plane serves: Kubernetes' own.

Their schemas and descriptions are in ``schemas.json``, which ``tools/generate.py`` generates from
the sources. It is read on first use.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any, Final

import msgspec

from kubekit.api.fields import FieldError
from kubekit.api.kinds.admission import MutatingWebhookConfiguration, ValidatingWebhookConfiguration
from kubekit.api.kinds.apiextensions import CustomResourceDefinition
from kubekit.api.kinds.authentication import SelfSubjectReview, TokenRequest, TokenReview
from kubekit.api.kinds.authorization import (
    LocalSubjectAccessReview,
    SelfSubjectAccessReview,
    SelfSubjectRulesReview,
    SubjectAccessReview,
)
from kubekit.api.kinds.coordination import Lease
from kubekit.api.kinds.core import ConfigMap, Namespace, Secret, ServiceAccount
from kubekit.api.kinds.events import CoreEvent, Event
from kubekit.api.kinds.rbac import ClusterRole, ClusterRoleBinding, Role, RoleBinding
from kubekit.api.meta import Object
from kubekit.api.structural.nodes import Document
from kubekit.plane.registry.definitions import definition_kind
from kubekit.plane.registry.kinds import Kind, Kinds, Prepare, head_of
from kubekit.plane.registry.rules import (
    builtin_kinds,
    event_versions,
    events,
    match_conditions,
    roles,
    webhooks,
)
from kubekit.plane.registry.schema.conformance import MOST_ERRORS

_SCHEMAS: Final = Path(__file__).with_name("schemas.json")
_Rules = Callable[[Document, Document | None], Iterable[FieldError]]
_RULES: Final[tuple[tuple[type[Object], _Rules], ...]] = (
    (Namespace, builtin_kinds.namespace),
    (ConfigMap, builtin_kinds.config_map),
    (Secret, builtin_kinds.secret),
    (ServiceAccount, builtin_kinds.service_account),
    (CoreEvent, events.core_event),
    (Event, events.new_event),
    (Lease, builtin_kinds.lease),
    (MutatingWebhookConfiguration, webhooks.mutating(match_conditions.fault)),
    (ValidatingWebhookConfiguration, webhooks.validating(match_conditions.fault)),
    (CustomResourceDefinition, definition_kind.prepare),
)
_ACCESS_RULES: Final[tuple[tuple[type[Object], _Rules], ...]] = (
    (Role, roles.role),
    (ClusterRole, roles.cluster_role),
    (RoleBinding, roles.role_binding),
    (ClusterRoleBinding, roles.cluster_role_binding),
)
_REVIEWS: Final[tuple[type[Object], ...]] = (
    SubjectAccessReview,
    LocalSubjectAccessReview,
    SelfSubjectAccessReview,
    SelfSubjectRulesReview,
    TokenReview,
    SelfSubjectReview,
)
# The virtual kinds that are created at a subresource of an object, by kind and subresource.
_VIRTUAL_SUBRESOURCES: Final[Mapping[type[Object], Mapping[str, type[Object]]]] = {
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
    """The virtual kinds: reviews of access and of tokens."""
    return tuple(_virtual(kind) for kind in _REVIEWS)


@cache
def native() -> Kinds:
    """All built-in kinds. A plane serves further kinds by their definitions."""
    return Kinds((*core(), *access(), *reviews()))


def _prepare(rules: _Rules) -> Prepare:
    """The rules, limited to `MOST_ERRORS` errors."""
    return lambda document, old: list(islice(rules(document, old), MOST_ERRORS))


def _builtin(kind: type[Object], prepare: Prepare) -> Kind:
    resource = kind.RESOURCE
    is_view = kind is Event
    shape = definition_kind.DefinitionKind if kind is CustomResourceDefinition else Kind
    return shape(
        resource=resource,
        schema=_content()["schemas"][f"{resource.api_version}/{resource.kind}"],
        storage="/events" if is_view else f"{resource.group}/{resource.plural}",
        head=head_of(resource),
        custom=False,
        conversion=event_versions.VIEW if is_view else None,
        prepare=prepare,
        virtual_subresources={
            name: _virtual(form) for name, form in _VIRTUAL_SUBRESOURCES.get(kind, {}).items()
        },
    )


def _virtual(kind: type[Object]) -> Kind:
    resource = kind.RESOURCE
    return Kind(
        resource=resource,
        schema=_content()["schemas"][f"{resource.api_version}/{resource.kind}"],
        storage=f"{resource.group}/{resource.plural}",
        head=head_of(resource),
        custom=False,
        virtual=True,
    )


@cache
def _content() -> dict[str, Any]:
    content: dict[str, Any] = msgspec.json.decode(_SCHEMAS.read_bytes())
    return content
