"""Decisions about access: who may do what, by the roles that are bound to him.

A decision is kept until any role or binding changes, so a right that is taken away is gone for the
very next request. Nothing is looked through for each request.
"""

from dataclasses import dataclass
from typing import Final

from kubekit.api.kinds.rbac import RoleRef
from kubekit.plane.access.attributes import Attributes
from kubekit.plane.access.index import RbacIndex
from kubekit.plane.access.refusals import forbidden, not_found
from kubekit.plane.access.rules import Ready
from kubekit.plane.store.store import Store
from kubekit.plane.users import MASTERS, User

MOST_DECISIONS: Final = 50_000  # kept; some 20 MB
MOST_LETTERS: Final = 8 << 20  # of what was asked: everybody may ask, in words of any length


@dataclass(frozen=True, slots=True)
class Decision:
    """Whether somebody may, and why."""

    allowed: bool
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Holdings:
    """The rules that somebody holds in one place, and the roles he was given that are not there."""

    rules: tuple[Ready, ...]
    missing: tuple[RoleRef, ...] = ()


_MASTER: Final = Decision(allowed=True)
_Key = tuple[str, tuple[str, ...], str, str, str, str, str, str | None, str]


class Authorizer:
    """The decisions of one plane. `close` it before its store."""

    def __init__(self, store: Store) -> None:
        self._decisions: dict[_Key, Decision] = {}
        self._letters = 0
        self._index = RbacIndex(store, self._forget)

    def close(self) -> None:
        """Follow the store no longer."""
        self._index.close()

    def check(self, user: User, asked: Attributes) -> None:
        """Refuse what the user may not do."""
        decision = self.decide(user, asked)
        if not decision.allowed:
            raise forbidden(user, asked, decision.reason)

    def decide(self, user: User, asked: Attributes) -> Decision:
        """Whether the user may, and why. The plane itself is a master, who always may."""
        if MASTERS in user.groups:
            return _MASTER
        name = asked.name
        key = (
            user.name,
            user.groups,
            asked.verb,
            asked.resource,
            asked.group,
            asked.namespace,
            asked.subresource,
            # All names that no rule speaks of are treated alike.
            name if self._index.names(name) else None,
            asked.path,
        )
        decision = self._decisions.get(key)
        if decision is None:
            decision = self._decided(user, asked)
            self._keep(key, decision)
        return decision

    def holdings(self, user: User, namespace: str) -> Holdings:
        """Everything that the user was given: everywhere, and in this namespace if one is named."""
        rules: list[Ready] = []
        missing = []
        for grant in self._index.grants(user.name, user.groups, namespace):
            found = self._index.rules(grant.role, grant.namespace)
            if found is None:
                missing.append(grant.role)
            else:
                rules += found
        return Holdings(tuple(rules), tuple(missing))

    def rules_of(self, role: RoleRef, namespace: str) -> tuple[Ready, ...] | None:
        """The rules of the role that a binding in this namespace names; None if there is none."""
        return self._index.rules(role, namespace)

    def _keep(self, key: _Key, decision: Decision) -> None:
        letters = _letters(key)
        if len(self._decisions) >= MOST_DECISIONS or self._letters + letters > MOST_LETTERS:
            self._forget()
        self._letters += letters
        self._decisions[key] = decision

    def _forget(self) -> None:
        self._decisions.clear()
        self._letters = 0

    def _decided(self, user: User, asked: Attributes) -> Decision:
        missing = []
        namespace = "" if asked.path else asked.namespace
        for grant in self._index.grants(user.name, user.groups, namespace):
            rules = self._index.rules(grant.role, grant.namespace)
            if rules is None:
                missing.append(grant.role)
            elif any(rule.allows(asked) for rule in rules):
                return Decision(allowed=True, reason=f"RBAC: allowed by {grant}")
        return Decision(allowed=False, reason=f"RBAC: {not_found(missing)}" if missing else "")


def _letters(key: _Key) -> int:
    user, groups, *words = key
    return len(user) + sum(map(len, groups)) + sum(len(word) for word in words if word)
