"""Prevents privilege escalation: a user can only grant permissions that the user has.

To write a role, a user needs all its rules or the verb ``escalate``; to bind a role, all its rules
or the verb ``bind``. An aggregated role could get any rules, so writing one needs all permissions.
"""

from typing import Final

import msgspec

from kubekit.api.errors import NotFound
from kubekit.api.kinds.rbac import GROUP, PolicyRule, RoleRef
from kubekit.api.status import StatusDetails
from kubekit.client.transport import Document
from kubekit.plane.access.attributes import Attributes
from kubekit.plane.access.authorizer import Authorizer
from kubekit.plane.access.forbidden_errors import not_found, refused
from kubekit.plane.access.rbac_index import (
    CLUSTER_ROLE_BINDINGS,
    CLUSTER_ROLES,
    ROLE_BINDINGS,
    ROLES,
)
from kubekit.plane.access.rules import (
    ANY,
    TooManyPermissions,
    go_list,
    quoted,
    rule_lines,
    uncovered,
)
from kubekit.plane.registry.admission import Attempt
from kubekit.plane.registry.encoding import same
from kubekit.plane.registry.schema.conformance import MOST_ERRORS
from kubekit.plane.users import MASTERS

_ALL_RIGHTS: Final = (
    PolicyRule(verbs=(ANY,), api_groups=(ANY,), resources=(ANY,)),
    PolicyRule(verbs=(ANY,), non_resource_urls=(ANY,)),
)
_PLURALS: Final = {"Role": "roles", "ClusterRole": "clusterroles"}
# Fields that the garbage collector and field management change. They grant no permission.
_SERVER_MANAGED: Final = frozenset(
    {"finalizers", "generation", "managedFields", "ownerReferences", "resourceVersion"}
)


class EscalationGuard:
    """A validating admission plugin for changes of roles and bindings."""

    def __init__(self, access: Authorizer) -> None:
        self._access = access
        self._rules = {
            ROLES: self._check_role,
            CLUSTER_ROLES: self._check_role,
            ROLE_BINDINGS: self._check_binding,
            CLUSTER_ROLE_BINDINGS: self._check_binding,
        }

    def __call__(self, attempt: Attempt) -> None:
        """Refuse a change by which the user would grant permissions that it does not have."""
        check = self._rules.get(attempt.kind.storage)
        if check is None or attempt.document is None or MASTERS in attempt.user.groups:
            return
        if attempt.old is None or not _is_server_managed(attempt.document, attempt.old):
            check(attempt, attempt.document)

    def _check_role(self, attempt: Attempt, document: Document) -> None:
        resource = attempt.kind.resource
        attributes = Attributes(
            verb="escalate",
            group=GROUP,
            resource=resource.plural,
            namespace=attempt.namespace,
            name=attempt.name if attempt.old else "",
        )
        if self._access.decide(attempt.user, attributes).allowed:
            return
        rules = msgspec.convert(document.get("rules") or (), tuple[PolicyRule, ...])
        self._confirm(attempt, rules)
        aggregations = (document.get("aggregationRule"), (attempt.old or {}).get("aggregationRule"))
        if any(aggregations) and self._uncovered(attempt, _ALL_RIGHTS):
            why = "must have cluster-admin privileges to use the aggregationRule"
            raise refused(GROUP, resource.plural, attempt.name, why)

    def _check_binding(self, attempt: Attempt, document: Document) -> None:
        role = msgspec.convert(document["roleRef"], RoleRef)
        attributes = Attributes(
            verb="bind",
            group=role.api_group,
            resource=_PLURALS[role.kind],
            namespace=attempt.namespace,
            name=role.name,
        )
        if self._access.decide(attempt.user, attributes).allowed:
            return
        rules = self._access.rules_of(role, attempt.namespace)
        if rules is None:
            plural = attempt.kind.resource.plural
            details = StatusDetails(name=role.name, group=GROUP, kind=plural)
            raise NotFound(not_found([role], plural), details)
        self._confirm(attempt, tuple(rule.rule for rule in rules))

    def _confirm(self, attempt: Attempt, rules: tuple[PolicyRule, ...]) -> None:
        """Refuse rules that the user does not have in the same namespace."""
        user, plural = attempt.user, attempt.kind.resource.plural
        try:
            lacking = self._uncovered(attempt, rules)
        except TooManyPermissions as problem:
            raise refused(GROUP, plural, attempt.name, f"{problem}; split the role") from problem
        if not lacking:
            return
        missing = self._access.rules_for(user, attempt.namespace).missing
        unsure = f"; resolution errors: [{not_found(missing, plural)}]" if missing else ""
        lines = "\n".join(_first(rule_lines(lacking)))
        why = (
            f"user {quoted(user.name)} (groups={go_list(user.groups)}) is attempting to grant RBAC "
            f"permissions not currently held:\n{lines}{unsure}"
        )
        raise refused(GROUP, plural, attempt.name, why)

    def _uncovered(self, attempt: Attempt, rules: tuple[PolicyRule, ...]) -> list[PolicyRule]:
        held = self._access.rules_for(attempt.user, attempt.namespace).rules
        return uncovered(held, rules)


def _first(lines: list[str]) -> list[str]:
    """The first lines, and how many more there are."""
    more = len(lines) - MOST_ERRORS
    return [*lines[:MOST_ERRORS], f"and {more} more"] if more > 0 else lines


def _is_server_managed(document: Document, old: Document) -> bool:
    """Whether a change affects only server-managed metadata."""
    return same(_without_server_managed(document), _without_server_managed(old))


def _without_server_managed(document: Document) -> Document:
    metadata = {k: v for k, v in document["metadata"].items() if k not in _SERVER_MANAGED}
    return {**document, "metadata": metadata}
