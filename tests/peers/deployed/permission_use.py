"""What our processes asked of each plane, by its audit log, and what the manifests permit them.

The server's own annotations say whether the authorizer allowed a request. So a refusal by admission,
such as that of an event in a namespace that is going, is not taken for a missing permission.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

from compute.app.manager_permissions import CELLS, SYSTEM
from tests.peers.deployed.kustomizations import Document, named

_OURS = tuple(f"system:serviceaccount:{namespace}:" for namespace in (SYSTEM, CELLS))
_DECISION = "authorization.k8s.io/decision"


@dataclass(frozen=True, order=True, slots=True)
class Permission:
    """A verb on a resource of a plane; a subresource is after a slash."""

    plane: str
    group: str
    resource: str
    verb: str

    def __str__(self) -> str:
        kind = f"{self.resource}.{self.group}" if self.group else self.resource
        return f"{self.plane}: {self.verb} {kind}"


@dataclass(frozen=True, slots=True)
class AuditedRequest:
    """A request of one of our service accounts."""

    user: str
    permission: Permission
    allowed: bool
    path: str

    def __str__(self) -> str:
        return f"{self.user} asked for {self.path} ({self.permission})"


def requests(plane: str, lines: Iterable[str]) -> Iterator[AuditedRequest]:
    """Every request of ours in an audit log."""
    for line in lines:
        entry: dict[str, Any] = json.loads(line)
        user = entry["user"]["username"]
        if user.startswith(_OURS):
            permission = _permission(plane, entry)
            allowed = entry.get("annotations", {}).get(_DECISION) != "forbid"
            yield AuditedRequest(user, permission, allowed, entry["requestURI"])


def granted(plane: str, documents: Iterable[Document]) -> set[Permission]:
    """What the applied objects permit our service accounts on a plane."""
    objects = list(documents)
    bindings = [each for each in objects if each["kind"].endswith("RoleBinding")]
    found: set[Permission] = set()
    for binding in bindings:
        role = named(objects, binding["roleRef"]["kind"]).get(binding["roleRef"]["name"])
        if role is not None:
            found.update(_permissions(plane, role))
    return found


def _permissions(plane: str, role: Document) -> Iterator[Permission]:
    """Those of a role that are for requests. Admission asks for those on finalizers, and no request."""
    for rule in role["rules"]:
        kinds = product(rule.get("apiGroups", ()), rule.get("resources", ()), rule["verbs"])
        for group, resource, verb in kinds:
            if not resource.endswith("/finalizers"):
                yield Permission(plane, group, resource, verb)


def _permission(plane: str, entry: Document) -> Permission:
    target = entry.get("objectRef", {})
    resource = "/".join(filter(None, (target.get("resource"), target.get("subresource"))))
    return Permission(plane, target.get("apiGroup", ""), resource or "(no resource)", entry["verb"])
