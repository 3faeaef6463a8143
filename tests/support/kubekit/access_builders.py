"""A registry with RBAC, and short helpers to grant and to check permissions."""

import functools
import inspect
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from kubekit.api.kinds.rbac import PolicyRule
from kubekit.client.options import PLAIN_DELETE, PLAIN_WRITE, PatchType
from kubekit.plane.access.attributes import Attributes
from kubekit.plane.access.authorizer import Authorizer
from kubekit.plane.access.rbac_controller import RbacController
from kubekit.plane.registry import builtins
from kubekit.plane.registry.kinds import Kind, Kinds
from kubekit.plane.registry.registry import Registry
from kubekit.plane.registry.virtual_kinds import VirtualRequest
from kubekit.plane.store.store import Store
from kubekit.plane.users import PLANE_USER, User
from tests.support.compute import served_kinds
from tests.support.kubekit import virtual_time
from tests.support.kubekit.plane_worlds import environment

Document = dict[str, Any]
RBAC = "rbac.authorization.k8s.io/v1"
GROUP = "rbac.authorization.k8s.io"
REVIEWS = "authorization.k8s.io/v1"
SPACE = "room"
BOB = User("bob", ("staff", "system:authenticated"))


def policy(verbs: str, resources: str = "", **more: Any) -> PolicyRule:
    """A rule: ``policy("get list", "pods")`` is for the core group."""
    groups = tuple(more.pop("groups", ("",))) if resources else ()
    return PolicyRule(
        verbs=tuple(verbs.split()), resources=tuple(resources.split()), api_groups=groups, **more
    )


def rule(verbs: str, resources: str = "", **more: Any) -> Document:
    """The same rule as a document."""
    document: Document = msgspec.json.decode(msgspec.json.encode(policy(verbs, resources, **more)))
    return document


def user(name: str) -> Document:
    return {"kind": "User", "name": name}


def group(name: str) -> Document:
    return {"kind": "Group", "name": name}


def account(name: str, namespace: str = "") -> Document:
    return {"kind": "ServiceAccount", "name": name} | (
        {"namespace": namespace} if namespace else {}
    )


@dataclass(frozen=True)
class AccessWorld:
    """A registry with one namespace, RBAC, and escalation checks."""

    registry: Registry
    keeper: RbacController

    @property
    def access(self) -> Authorizer:
        return self.keeper.authorizer

    def kind(self, name: str, api_version: str = RBAC) -> Kind:
        return self.registry.kinds.require(api_version, name)

    async def namespace(self, name: str) -> None:
        kind = self.kind("Namespace", "v1")
        await self.registry.create(kind, "", {"metadata": {"name": name}}, PLAIN_WRITE)

    async def role(self, name: str, *rules: Document, namespace: str = SPACE, **more: Any) -> None:
        """A Role, or without a namespace a ClusterRole."""
        document = {"metadata": {"name": name, **more.pop("metadata", {})}, "rules": list(rules)}
        kind = self.kind("Role" if namespace else "ClusterRole")
        by = more.pop("by", PLANE_USER)
        await self.registry.create(kind, namespace, document | more, PLAIN_WRITE, by)

    async def bind(
        self,
        name: str,
        role: str,
        *subjects: Document,
        namespace: str = SPACE,
        by: User = PLANE_USER,
    ) -> None:
        """A binding to ``Role/x`` or ``ClusterRole/x``; without a namespace a ClusterRoleBinding."""
        kind, _, role_name = role.partition("/")
        document = {
            "metadata": {"name": name},
            "roleRef": {"kind": kind, "name": role_name},
            "subjects": list(subjects),
        }
        made = self.kind("RoleBinding" if namespace else "ClusterRoleBinding")
        await self.registry.create(made, namespace, document, PLAIN_WRITE, by)

    async def give(self, subject: Document, *rules: Document, namespace: str = "") -> None:
        """Grant permissions through a new role and a new binding."""
        name = f"given-{self.registry.store.revision}"
        await self.role(name, *rules, namespace=namespace)
        kind = "Role" if namespace else "ClusterRole"
        await self.bind(name, f"{kind}/{name}", subject, namespace=namespace)

    async def patch(
        self, kind: str, namespace: str, name: str, change: Document, by: User = PLANE_USER
    ) -> Document:
        written = await self.registry.patch(
            self.kind(kind), namespace, name, PatchType.MERGE, change, PLAIN_WRITE, user=by
        )
        document: Document = msgspec.json.decode(written.record.data)
        return document

    async def delete(self, kind: str, namespace: str, name: str) -> None:
        await self.registry.delete(self.kind(kind), namespace, name, PLAIN_DELETE)

    def get(self, kind: str, namespace: str, name: str) -> Document:
        document: Document = msgspec.json.decode(
            self.registry.get(self.kind(kind), namespace, name).data
        )
        return document

    def may(self, who: User, verb: str, resource: str = "pods", **more: str) -> bool:
        asked = Attributes(verb=verb, resource="" if "path" in more else resource, **more)
        return self.access.decide(who, asked).allowed

    async def ask(self, kind: str, spec: Document | None, by: User = BOB, **more: Any) -> Document:
        document = {} if spec is None else {"spec": spec}
        question = VirtualRequest(
            kind=self.kind(kind, REVIEWS),
            namespace=more.pop("namespace", ""),
            document=document | more,
            user=by,
        )
        return await self.registry.handle_virtual(question)


def scenario(test: Callable[..., Awaitable[None]]) -> Callable[..., Any]:
    """A coroutine function that receives an `AccessWorld`, as a test."""

    @functools.wraps(test)
    def run(tmp_path: Path, **parameters: object) -> None:
        virtual_time.run(_within(tmp_path, test, parameters))

    asked = [p for name, p in inspect.signature(test).parameters.items() if name != "world"]
    place = inspect.Parameter("tmp_path", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    vars(run)["__signature__"] = inspect.Signature([place, *asked])  # what pytest looks at
    return run


async def _within(
    directory: Path, test: Callable[..., Awaitable[None]], parameters: Document
) -> None:
    surroundings = environment()
    store = await Store.open(directory / "store.db", surroundings, threaded=False)
    kinds = Kinds(
        (*builtins.core(), *builtins.access(), *builtins.reviews(), *served_kinds.custom("compute"))
    )
    registry = Registry(store, kinds, surroundings)
    keeper = RbacController(registry)
    try:
        world = AccessWorld(registry, keeper)
        for name in (SPACE, "attic"):
            await world.namespace(name)
        await test(world, **parameters)
    finally:
        await keeper.worker.close()
        keeper.close()
        registry.close()
        await store.close()
