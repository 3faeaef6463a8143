"""Ask a server what it allows, and write down its verdicts: ``python -m tests.unit.kubekit.plane.access.verdicts``.

The server is named as for the contract suite (CONTRACT_SERVER, CONTRACT_CA, and CONTRACT_TOKEN or
CONTRACT_CERT and CONTRACT_KEY). Each case is a role with random rules, bound to a subject of its own,
and some reviews with values of those rules. Everything that was created is deleted again.
"""

import asyncio
import json
import os
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from kubekit.api.errors import NotFound
from kubekit.api.kinds.authorization import SubjectAccessReview
from kubekit.api.kinds.rbac import ClusterRole, ClusterRoleBinding, Role, RoleBinding
from kubekit.api.resource import Resource
from kubekit.client.options import PLAIN_DELETE, PLAIN_WRITE
from kubekit.client.transport import Document, ResourceLocation
from tests.contract.http_transport import HttpTransport, named

TABLE = Path(__file__).with_name("verdicts.json")
SEED, CASES, QUESTIONS = 20, 60, 10
SPACE = "default"
VERBS = ("get", "list", "watch", "create", "delete", "deletecollection", "*", "GET", "fly")
GROUPS = ("", "apps", "*", "example.com")
RESOURCES = ("pods", "pods/log", "pods/*", "*/log", "*/status", "*", "po*", "nodes", "pods/log/x")
NAMES = ("a", "b", "")
PATHS = ("/api", "/api/*", "/apis/x", "/ap*", "*", "/a*c", "/api**", "/version/")


def cases(chance: Random) -> list[Document]:
    """The cases, without verdicts."""
    return [_case(chance, number) for number in range(CASES)]


def _case(chance: Random, number: int) -> Document:
    kind = chance.choice(("ClusterRole", "ClusterRole", "Role"))
    namespace = SPACE if kind == "Role" or chance.random() < 0.3 else ""
    rules = [_rule(chance, paths=kind == "ClusterRole") for _ in range(chance.randint(1, 3))]
    subject, users = _subject(chance, number, namespace)
    return {
        "name": f"access-verdict-{number}",
        "role": kind,
        "rules": rules,
        "namespace": namespace,
        "subject": subject,
        "asked": [_question(chance, rules, chance.choice(users)) for _ in range(QUESTIONS)],
    }


def _some(chance: Random, words: tuple[str, ...], least: int = 1) -> list[str]:
    return chance.sample(words, chance.randint(least, 2))


def _rule(chance: Random, *, paths: bool) -> Document:
    if paths and chance.random() < 0.3:
        return {"verbs": _some(chance, VERBS), "nonResourceURLs": _some(chance, PATHS)}
    names = _some(chance, NAMES) if chance.random() < 0.3 else []
    return {
        "verbs": _some(chance, VERBS),
        "apiGroups": _some(chance, GROUPS),
        "resources": _some(chance, RESOURCES),
    } | ({"resourceNames": names} if names else {})


def _subject(chance: Random, number: int, namespace: str) -> tuple[Document, list[Document]]:
    """A subject, and users that it may or may not match."""
    name = f"access-verdict-{number}"
    full = f"system:serviceaccount:{SPACE}:{name}"
    users: list[Document] = [{"user": name}, {"user": "other", "groups": [name]}, {"user": full}]
    other = {"user": f"system:serviceaccount:elsewhere:{name}"}
    match chance.choice(("User", "Group", "ServiceAccount")):
        case "ServiceAccount":
            place = {} if namespace and chance.random() < 0.5 else {"namespace": SPACE}
            return {"kind": "ServiceAccount", "name": name} | place, [users[2]] * 9 + [
                *users,
                other,
            ]
        case "Group":
            return {"kind": "Group", "name": name}, [users[1]] * 9 + users
        case _:
            return {"kind": "User", "name": name}, [users[0]] * 9 + users


def _question(chance: Random, rules: list[Document], who: Document) -> Document:
    """A question that is near to one of the rules."""
    rule = chance.choice(rules)
    verb = _near(chance, rule["verbs"], "get")
    if "nonResourceURLs" in rule:
        url = chance.choice(rule["nonResourceURLs"])
        bare = url.rstrip("*")
        path = chance.choice((url, f"{bare}v1", f"{bare}v1", bare, "/api", "/version/"))
        return who | {"nonResourceAttributes": {"verb": verb, "path": path or "/"}}
    resource, _, part = chance.choice(rule["resources"]).partition("/")
    attributes = {
        "verb": verb,
        "group": _near(chance, rule["apiGroups"], "apps"),
        "resource": _near(chance, [resource], "pods"),
        "subresource": _near(chance, [part], "log"),
        "name": _near(chance, rule.get("resourceNames", ["", "b"]), "a"),
        "namespace": _near(chance, [SPACE], chance.choice(("elsewhere", ""))),
    }
    return who | {"resourceAttributes": {name: word for name, word in attributes.items() if word}}


def _near(chance: Random, words: list[str], other: str) -> str:
    """A word of the rule, mostly."""
    return chance.choice(words) if chance.random() < 0.88 else other


@dataclass(frozen=True, slots=True)
class _Server:
    transport: HttpTransport

    async def make(self, case: Document) -> None:
        await self.unmake(case)
        role, binding = _documents(case)
        await self.transport.create(_place(role), role, PLAIN_WRITE)
        await self.transport.create(_place(binding), binding, PLAIN_WRITE)

    async def unmake(self, case: Document) -> None:
        for document in _documents(case):
            try:
                await self.transport.delete(_place(document, named=True), PLAIN_DELETE)
            except NotFound:
                continue

    async def allows(self, question: Document) -> bool:
        review = {"spec": question}
        place = ResourceLocation(SubjectAccessReview.RESOURCE)
        answer = await self.transport.create(place, review, PLAIN_WRITE)
        allowed: bool = answer["status"]["allowed"]
        return allowed


_RESOURCES: dict[str, Resource] = {
    kind.RESOURCE.kind: kind.RESOURCE
    for kind in (Role, ClusterRole, RoleBinding, ClusterRoleBinding)
}


def _documents(case: Document) -> tuple[Document, Document]:
    """The role and the binding of a case."""
    name, space = case["name"], {"namespace": SPACE}
    role = {"kind": case["role"], "metadata": {"name": name}, "rules": case["rules"]}
    if case["role"] == "Role":
        role["metadata"] |= space
    binding = {
        "kind": "RoleBinding" if case["namespace"] else "ClusterRoleBinding",
        "metadata": {"name": name} | (space if case["namespace"] else {}),
        "roleRef": {"kind": case["role"], "name": name},
        "subjects": [case["subject"]],
    }
    return role, binding


def _place(document: Document, *, named: bool = False) -> ResourceLocation:
    metadata = document["metadata"]
    name = metadata["name"] if named else ""
    return ResourceLocation(_RESOURCES[document["kind"]], metadata.get("namespace", ""), name)


async def _asked() -> list[Document]:
    found = cases(Random(SEED))
    async with HttpTransport(named(os.environ)) as transport:
        server = _Server(transport)
        try:
            for case in found:
                await server.make(case)
            await asyncio.sleep(2)  # a server may follow its own objects with some delay
            for question in (question for case in found for question in case["asked"]):
                question["allowed"] = await server.allows(_spec(question))
        finally:
            for case in found:
                await server.unmake(case)
    return found


def _spec(question: Document) -> dict[str, Any]:
    return {name: value for name, value in question.items() if name != "allowed"}


if __name__ == "__main__":
    written = asyncio.run(_asked())
    lines = ",\n".join(json.dumps(case) for case in written)
    TABLE.write_text(f"[\n{lines}\n]\n", encoding="utf-8")
