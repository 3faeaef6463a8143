"""An index of the roles and bindings of one plane, by subject.

It is read from the store once, and follows each change from then on.
"""

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from kubekit.api import scheme
from kubekit.api.kinds.rbac import (
    ClusterRole,
    ClusterRoleBinding,
    Role,
    RoleBinding,
    RoleRef,
    Subject,
)
from kubekit.api.meta import Object
from kubekit.plane.access.rules import CompiledRule, compile_rules, quoted
from kubekit.plane.store.records import ChangeEvent, ChangeType, Record
from kubekit.plane.store.store import Store

ROLES: Final = "rbac.authorization.k8s.io/roles"
CLUSTER_ROLES: Final = "rbac.authorization.k8s.io/clusterroles"
ROLE_BINDINGS: Final = "rbac.authorization.k8s.io/rolebindings"
CLUSTER_ROLE_BINDINGS: Final = "rbac.authorization.k8s.io/clusterrolebindings"

_Principal = tuple[str, str]  # "User" or "Group", and the name
_Key = tuple[str, str]  # the resource and the key of an object in the store
_log: Final = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Grant:
    """A role bound to one subject of a binding. ``namespace`` is empty if it is cluster-wide."""

    binding: str
    namespace: str
    role: RoleRef
    subject: Subject
    position: int

    def __str__(self) -> str:
        kind, name = "ClusterRoleBinding", self.binding
        if self.namespace:
            kind, name = "RoleBinding", f"{self.binding}/{self.namespace}"
        return (
            f"{kind} {quoted(name)} of {self.role.kind} {quoted(self.role.name)} "
            f"to {_described(self.subject, self.namespace)}"
        )


class RbacIndex:
    """The current roles and bindings. ``changed`` is called after each change of one."""

    def __init__(self, store: Store, changed: Callable[[], None]) -> None:
        self._changed = changed
        self._roles: dict[_Key, tuple[CompiledRule, ...]] = {}
        self._grants: dict[_Principal, dict[str, dict[_Key, Grant]]] = {}  # then namespace, binding
        self._principals: dict[_Key, tuple[str, list[_Principal]]] = {}
        self._names: Counter[str] = Counter()
        for resource in (ROLES, CLUSTER_ROLES, ROLE_BINDINGS, CLUSTER_ROLE_BINDINGS):
            for record in store.collection(resource).range():
                self._put(resource, record)
        self.close = store.listen(self._on_event, _READ)

    def names(self, name: str) -> bool:
        """Whether a rule of any role names an object like this."""
        return name in self._names

    def grants(self, user: str, groups: Iterable[str], namespace: str) -> list[Grant]:
        """The grants of the user: cluster-wide ones, then those in the namespace, by binding."""
        principals = [("User", user), *(("Group", group) for group in groups)]
        namespaces = ("", namespace) if namespace else ("",)
        return [grant for each in namespaces for grant in self._granted(principals, each)]

    def rules(self, role: RoleRef, namespace: str) -> tuple[CompiledRule, ...] | None:
        """The rules of a role that a binding in this namespace names; None if there is none."""
        if role.kind == "ClusterRole":
            return self._roles.get((CLUSTER_ROLES, role.name))
        return self._roles.get((ROLES, f"{namespace}/{role.name}"))

    def _granted(self, principals: Iterable[_Principal], namespace: str) -> Iterator[Grant]:
        grants: dict[_Key, Grant] = {}
        for principal in principals:
            for key, grant in self._grants.get(principal, {}).get(namespace, {}).items():
                if key not in grants or grant.position < grants[key].position:
                    grants[key] = grant
        return (grants[key] for key in sorted(grants))

    def _on_event(self, resource: str, event: ChangeEvent) -> None:
        if resource not in _READ:
            return
        key = (resource, event.record.key)
        self._drop(key)
        if event.change is not ChangeType.DELETED:
            self._put(resource, event.record)
        self._changed()

    def _drop(self, key: _Key) -> None:
        for rule in self._roles.pop(key, ()):
            self._names.subtract(rule.names)
        namespace, principals = self._principals.pop(key, ("", []))
        for principal in principals:
            by_namespace = self._grants[principal]
            del by_namespace[namespace][key]
            if not by_namespace[namespace]:
                del by_namespace[namespace]
            if not by_namespace:
                del self._grants[principal]
        self._names += Counter()  # drops the names with a count of zero

    def _put(self, resource: str, record: Record) -> None:
        try:
            obj = scheme.decode_as(_READ[resource], record.data)
        except scheme.DecodeError as error:
            # An unreadable role or binding grants nothing; all others stay in force.
            _log.error(
                "an access rule cannot be read", extra={"key": record.key, "why": str(error)}
            )
            return
        key = (resource, record.key)
        if isinstance(obj, Role | ClusterRole):
            self._roles[key] = rules = compile_rules(obj.rules)
            for rule in rules:
                self._names.update(rule.names)
        elif isinstance(obj, RoleBinding | ClusterRoleBinding):
            self._bind(key, obj)

    def _bind(self, key: _Key, binding: RoleBinding | ClusterRoleBinding) -> None:
        namespace = binding.metadata.namespace
        principals: list[_Principal] = []
        for position, subject in enumerate(binding.subjects):
            principal = _principal(subject, namespace)
            if principal is None or principal in principals:
                continue
            principals.append(principal)
            grant = Grant(binding.metadata.name, namespace, binding.role_ref, subject, position)
            self._grants.setdefault(principal, {}).setdefault(namespace, {})[key] = grant
        self._principals[key] = (namespace, principals)


_READ: Final[Mapping[str, type[Object]]] = {
    ROLES: Role,
    CLUSTER_ROLES: ClusterRole,
    ROLE_BINDINGS: RoleBinding,
    CLUSTER_ROLE_BINDINGS: ClusterRoleBinding,
}


def _principal(subject: Subject, namespace: str) -> _Principal | None:
    """The user or group of a subject. A service account is the user of its name."""
    if subject.kind == "ServiceAccount":
        account_namespace = subject.namespace or namespace
        return (
            ("User", f"system:serviceaccount:{account_namespace}:{subject.name}")
            if account_namespace
            else None
        )
    return (subject.kind, subject.name)


def _described(subject: Subject, namespace: str) -> str:
    if subject.kind == "ServiceAccount":
        return f"{subject.kind} {quoted(f'{subject.name}/{subject.namespace or namespace}')}"
    return f"{subject.kind} {quoted(subject.name)}"
