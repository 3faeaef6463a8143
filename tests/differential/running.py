"""Running a script on a server, in a namespace of its own.

What happens by itself, and so at no certain time, is brought to its end before the next request:
the work of a garbage collector and of a namespace controller, which only some servers have beside
them.
"""

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import yaml

from tests.differential.asks import Ask, Script, Sent, sent, text
from tests.differential.servers import Answer, Server

_OF_THE_COLLECTOR = ("foregroundDeletion", "orphan")
_JSON = {"Content-Type": "application/json", "Accept": "application/json"}
_DEFAULT = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default"}}
_TRIES = 100
_WITHOUT_NAMESPACE = (
    "/apis/rbac.authorization.k8s.io/v1/clusterroles",
    "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
    "/apis/contract.datumapis.com/v1/gadgets",
)


@dataclass(frozen=True, slots=True)
class DecodedAnswer:
    """An answer that was read: a document, the events of a watch, or text."""

    status: int
    media: str
    warnings: tuple[str, ...]
    body: Any


async def answers_of(script: Script, server: Server, namespace: str) -> list[DecodedAnswer]:
    """The answers of a server to the requests of a script."""
    await _begin(server, namespace)
    answers: dict[int, Any] = {}
    every = []
    for ask in script:
        request = sent(ask, namespace, answers)
        answer = _read(ask, await server.ask(request))
        # What only one of the servers answers cannot be referred to.
        answers[ask.number] = None if ask.accept == "application/yaml" else answer.body
        every.append(answer)
        if ask.method == "DELETE" and isinstance(answer.body, dict):
            await _settle(server, request.target.partition("?")[0], answer.body)
    if server.lasting:
        await _end(server, namespace)
    return every


def _read(ask: Ask, answer: Answer) -> DecodedAnswer:
    media = answer.media.partition(";")[0].strip()
    body: Any = answer.body.decode("utf-8", "replace")
    try:
        if ask.is_watch and answer.status == 200:
            body = [json.loads(line) for line in body.splitlines() if line]
        elif media == "application/json":
            body = json.loads(body)
        elif media == "application/yaml":
            body = yaml.safe_load(body)
    except (ValueError, yaml.YAMLError):
        body = f"unreadable: {body}"
    return DecodedAnswer(answer.status, answer.media, answer.warnings, body)


async def _begin(server: Server, namespace: str) -> None:
    body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}}
    answer = await server.ask(_request("POST", "/api/v1/namespaces", body))
    if answer.status != 201:
        raise AssertionError(f"{server.name} did not create {namespace}: {answer.body!r}")
    # What only some servers put into a new namespace, and what only others do.
    await server.ask(_request("POST", f"/api/v1/namespaces/{namespace}/serviceaccounts", _DEFAULT))
    path = f"/api/v1/namespaces/{namespace}/configmaps/kube-root-ca.crt"
    await server.ask(_request("DELETE", path))


async def _end(server: Server, namespace: str) -> None:
    """Leave nothing on a server that others use."""
    for collection in _WITHOUT_NAMESPACE:
        mine = f"{collection}?labelSelector=differential%3D{namespace}"
        await server.ask(_request("DELETE", mine))
    path = f"/api/v1/namespaces/{namespace}"
    answer = await server.ask(_request("DELETE", path))
    if answer.status == 200:
        await _finalize(server, path)


async def _settle(server: Server, path: str, deleted: Mapping[str, Any]) -> None:
    metadata = deleted.get("metadata", {})
    if not isinstance(metadata, dict) or "deletionTimestamp" not in metadata:
        return
    if deleted.get("kind") == "Namespace":
        await _finalize(server, path)
    elif set(metadata.get("finalizers", ())) & {*_OF_THE_COLLECTOR}:
        await _collect(server, path)


async def _collect(server: Server, path: str) -> None:
    """Do what the garbage collector does for an object without dependents."""
    for _ in range(_TRIES):
        present = await _present(server, path)
        if present is None:
            return
        if "deletionTimestamp" not in present["metadata"]:  # it was only tried
            return
        kept = present["metadata"].get("finalizers", [])
        left = [name for name in kept if name not in _OF_THE_COLLECTOR]
        if left == kept:
            return
        metadata = present["metadata"] | {"finalizers": left}
        await server.ask(_request("PUT", path, present | {"metadata": metadata}))
    raise AssertionError(f"{server.name} does not let {path} go")


async def _finalize(server: Server, path: str) -> None:
    """Do what the namespace controller does for a namespace that is empty or need not be emptied."""
    for _ in range(_TRIES):
        present = await _present(server, path)
        if present is None:
            return
        if "deletionTimestamp" not in present["metadata"]:  # it was only tried
            return
        if "finalizers" in present["metadata"]:
            free = present["metadata"] | {"finalizers": []}
            await server.ask(_request("PUT", path, present | {"metadata": free}))
        done = present | {"spec": {"finalizers": []}}
        await server.ask(_request("PUT", f"{path}/finalize", done))
        await asyncio.sleep(0.01)
    raise AssertionError(f"{server.name} does not let {path} go")


async def _present(server: Server, path: str) -> dict[str, Any] | None:
    answer = await server.ask(_request("GET", path))
    if answer.status == 404:
        return None
    document: dict[str, Any] = json.loads(answer.body)
    return document


def _request(method: str, path: str, document: Any = None) -> Sent:
    body = None if document is None else text(document).encode()
    return Sent(method, path, body, _JSON)
