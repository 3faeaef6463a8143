"""Decisions about access, by the roles that are bound to a user.

A decision is cached until any role or binding changes, so a removed permission is gone at the very
next request. A cached decision costs one lookup.
"""

from dataclasses import dataclass
from typing import Final

from kubekit.api.kinds.rbac import RoleRef
from kubekit.plane.access.attributes import Attributes
from kubekit.plane.access.forbidden_errors import forbidden, not_found
from kubekit.plane.access.rbac_index import RbacIndex
from kubekit.plane.access.rules import CompiledRule
from kubekit.plane.store.store import Store
from kubekit.plane.users import MASTERS, User

MOST_DECISIONS: Final = 50_000  # cached; about 20 MB
MOST_CHARACTERS: Final = 8 << 20  # of all keys: any client may send attributes of any length


@dataclass(frozen=True, slots=True)
class Decision:
    """Whether a request is allowed, and the reason."""

    allowed: bool
    reason: str = ""


@dataclass(frozen=True, slots=True)
class UserRules:
    """The rules that apply to a user in one namespace, and the bound roles that do not exist."""

    rules: tuple[CompiledRule, ...]
    missing: tuple[RoleRef, ...] = ()


_MASTER: Final = Decision(allowed=True)
_Key = tuple[str, tuple[str, ...], str, str, str, str, str, str | None, str]


class Authorizer:
    """Authorizes requests to one plane. `close` it before its store."""

    def __init__(self, store: Store) -> None:
        self._decisions: dict[_Key, Decision] = {}
        self._characters = 0
        self._index = RbacIndex(store, self._clear_cache)

    def close(self) -> None:
        """Stop watching the store."""
        self._index.close()

    def check(self, user: User, attributes: Attributes) -> None:
        """Raise `Forbidden` if the request is not allowed."""
        decision = self.decide(user, attributes)
        if not decision.allowed:
            raise forbidden(user, attributes, decision.reason)

    def decide(self, user: User, attributes: Attributes) -> Decision:
        """Decide about a request. The group `system:masters`, with the plane itself, may do everything."""
        if MASTERS in user.groups:
            return _MASTER
        name = attributes.name
        key = (
            user.name,
            user.groups,
            attributes.verb,
            attributes.resource,
            attributes.group,
            attributes.namespace,
            attributes.subresource,
            # All names that no rule mentions share a decision.
            name if self._index.names(name) else None,
            attributes.path,
        )
        decision = self._decisions.get(key)
        if decision is None:
            decision = self._decided(user, attributes)
            self._cache(key, decision)
        return decision

    def rules_for(self, user: User, namespace: str) -> UserRules:
        """All rules of the user: cluster-wide, and in this namespace if one is given."""
        rules: list[CompiledRule] = []
        missing = []
        for grant in self._index.grants(user.name, user.groups, namespace):
            rules_of_role = self._index.rules(grant.role, grant.namespace)
            if rules_of_role is None:
                missing.append(grant.role)
            else:
                rules += rules_of_role
        return UserRules(tuple(rules), tuple(missing))

    def rules_of(self, role: RoleRef, namespace: str) -> tuple[CompiledRule, ...] | None:
        """The rules of the role that a binding in this namespace names; None if there is none."""
        return self._index.rules(role, namespace)

    def _cache(self, key: _Key, decision: Decision) -> None:
        length = _characters(key)
        if len(self._decisions) >= MOST_DECISIONS or self._characters + length > MOST_CHARACTERS:
            self._clear_cache()
        self._characters += length
        self._decisions[key] = decision

    def _clear_cache(self) -> None:
        self._decisions.clear()
        self._characters = 0

    def _decided(self, user: User, attributes: Attributes) -> Decision:
        missing = []
        namespace = "" if attributes.path else attributes.namespace
        for grant in self._index.grants(user.name, user.groups, namespace):
            rules = self._index.rules(grant.role, grant.namespace)
            if rules is None:
                missing.append(grant.role)
            elif any(rule.allows(attributes) for rule in rules):
                return Decision(allowed=True, reason=f"RBAC: allowed by {grant}")
        return Decision(allowed=False, reason=f"RBAC: {not_found(missing)}" if missing else "")


def _characters(key: _Key) -> int:
    user, groups, *texts = key
    return len(user) + sum(map(len, groups)) + sum(len(text) for text in texts if text)
