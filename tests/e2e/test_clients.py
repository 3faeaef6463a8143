"""The client libraries for Python against a plane, through the kubeconfig that the command wrote."""

import asyncio
import gc
import itertools
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from contextlib import aclosing
from pathlib import Path
from typing import Any

import kubernetes
import pytest
import yaml
from kubernetes import client, config

from tests.support.kubekit.client_libraries import (
    APPLYING,
    LIBRARIES,
    Document,
    Library,
    Opening,
    Refused,
    Sort,
)
from tests.support.kubekit.kites import DEFINITION
from tests.support.kubekit.plane_process import running

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

NUMBERS = itertools.count(1)
CONFIG_MAPS = Sort("v1", "ConfigMap", "configmaps")
WORKLOADS = Sort("compute.datumapis.com/v1alpha", "Workload", "workloads")
KITES = Sort("example.test/v1", "Kite", "kites")
GREETER = yaml.safe_load((Path(__file__).parents[2] / "examples" / "greeter.yaml").read_text())
SPECS: dict[Sort, Document] = {
    CONFIG_MAPS: {"data": {"colour": "red"}},
    WORKLOADS: {"spec": GREETER["spec"]},
    KITES: {"spec": {"colour": "red"}},
}
# The value of a field, the value that another writer wants, and the path of the field.
WISHES: dict[Sort, tuple[Document, Document, str]] = {
    CONFIG_MAPS: ({"data": {"colour": "red"}}, {"data": {"colour": "blue"}}, ".data.colour"),
    KITES: ({"spec": {"colour": "red"}}, {"spec": {"colour": "blue"}}, ".spec.colour"),
    WORKLOADS: (
        {"metadata": {"labels": {"colour": "red"}}},
        {"metadata": {"labels": {"colour": "blue"}}},
        ".metadata.labels.colour",
    ),
}
COUNTS: dict[Sort, Document] = {  # what a status of theirs must say
    WORKLOADS: dict.fromkeys(
        ["replicas", "readyReplicas", "currentReplicas", "updatedReplicas", "desiredReplicas", "deployments"], 0,
    ),
}  # fmt: skip
every_library = pytest.mark.parametrize("library", LIBRARIES.values(), ids=list(LIBRARIES))
every_sort = pytest.mark.parametrize("sort", SPECS, ids=lambda sort: sort.kind)


@pytest.fixture(scope="module")
def kubeconfig(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Of a plane that got one kind more while it was serving."""
    with running(tmp_path_factory.mktemp("clients") / "data") as plane:
        with config.new_client_from_config(str(plane.kubeconfig)) as connections:
            _define(connections)
        yield plane.kubeconfig


@pytest.fixture
def namespace(kubeconfig: Path) -> str:
    name = f"test-{next(NUMBERS)}"
    with config.new_client_from_config(str(kubeconfig)) as connections:
        made = client.V1Namespace(metadata=client.V1ObjectMeta(name=name))
        client.CoreV1Api(connections).create_namespace(made)
    return name


def _define(connections: Any) -> None:
    """Create a kind, and wait until it is served."""
    definitions = client.ApiextensionsV1Api(connections)
    definition = yaml.safe_load(DEFINITION)
    definitions.create_custom_resource_definition(definition)
    watch = kubernetes.watch.Watch()
    for event in watch.stream(
        definitions.list_custom_resource_definition,
        field_selector=f"metadata.name={definition['metadata']['name']}",
        timeout_seconds=20,
    ):
        conditions = event["raw_object"]["status"].get("conditions", [])
        if ("Established", "True") in {(one["type"], one["status"]) for one in conditions}:
            return
    raise AssertionError("it was never established")


def manifest(sort: Sort, name: str, namespace: str) -> Document:
    head = {"apiVersion": sort.api_version, "kind": sort.kind}
    return head | {"metadata": {"name": name, "namespace": namespace}} | SPECS[sort]


def within(story: Callable[[Library], Awaitable[None]], opening: Any) -> None:
    """Run a story with a client, and give up after a good while."""

    async def run_story() -> None:
        async with asyncio.timeout(30):
            async with opening as client:
                await story(client)
            await _swept()

    asyncio.run(run_story())


async def _swept() -> None:
    """Let the generators that a library dropped be closed while their loop is still there."""
    gc.collect(1)  # the young ones: a worker that has run for long holds millions of old ones
    await asyncio.sleep(0)  # not to wait: what the collector asked for becomes a task only then
    await asyncio.gather(*asyncio.all_tasks() - {asyncio.current_task()})


@every_sort
@every_library
def test_the_life_of_an_object(
    kubeconfig: Path, namespace: str, library: Opening, sort: Sort
) -> None:
    """Created, read, listed, changed and deleted; a watch reports each of it."""

    async def story(client: Library) -> None:
        since = (await client.create(manifest(sort, "first", namespace)))["metadata"]
        watching = asyncio.create_task(_until_gone(client.watch(since["resourceVersion"])))
        made = await client.create(manifest(sort, "box", namespace))
        assert await client.get("box") == made
        assert await client.names() == ["box", "first"]
        changed = await client.merge("box", {"metadata": {"labels": {"line": "long"}}})
        assert changed["metadata"]["labels"] == {"line": "long"}
        await client.delete("box")

        events = await watching
        assert [event for event, _ in events] == ["ADDED", "MODIFIED", "DELETED"]
        assert [obj for _, obj in events[:2]] == [made, changed]

    within(story, library(kubeconfig, namespace, sort))


async def _until_gone(
    events: AsyncGenerator[tuple[str, Document], None],
) -> list[tuple[str, Document]]:
    seen = []
    async with aclosing(events):
        async for event in events:
            seen.append(event)
            if event[0] == "DELETED":
                break
    return seen


@every_sort
@pytest.mark.parametrize("library", APPLYING.values(), ids=list(APPLYING))
def test_server_side_apply(kubeconfig: Path, namespace: str, library: Opening, sort: Sort) -> None:
    """The second of two conflicting writers gets a conflict; with force it takes the field over."""
    mine, other, path = WISHES[sort]
    first = _merged(manifest(sort, "box", namespace), mine)
    second = _merged(_merged(manifest(sort, "box", namespace), {"spec": None}), other)

    async def story(client: Library) -> None:
        made = await client.apply(first, "ann")
        assert await client.apply(first, "ann") == made
        with pytest.raises(Refused) as refused:
            await client.apply(second, "ben")
        forced = await client.apply(second, "ben", force=True)
        shared = await client.apply(second, "cid")

        [cause] = refused.value.status["details"]["causes"]
        assert (cause["reason"], cause["field"]) == ("FieldManagerConflict", path)
        assert _merged(forced, other) == forced
        assert _owners(forced, path) == {"ben"}
        assert _owners(shared, path) == {"ben", "cid"}

    within(story, library(kubeconfig, namespace, sort))


def _merged(document: Document, more: Document) -> Document:
    """The document with more in it; what is None there goes."""
    merged = dict(document)
    for name, part in more.items():
        old = merged.pop(name, None)
        if part is not None:
            merged[name] = _merged(old, part) if isinstance(old, dict) else part
    return merged


def _owners(document: Document, path: str) -> set[str]:
    """Who owns a field."""
    return {
        entry["manager"]
        for entry in document["metadata"]["managedFields"]
        if _names(entry["fieldsV1"], [f"f:{part}" for part in path.split(".")[1:]])
    }


def _names(fields: Document, path: list[str]) -> bool:
    return not path or (path[0] in fields and _names(fields[path[0]], path[1:]))


@pytest.mark.parametrize("sort", [KITES, WORKLOADS], ids=lambda sort: sort.kind)
@every_library
def test_status(kubeconfig: Path, namespace: str, library: Opening, sort: Sort) -> None:
    """A status is written by itself, and what is written of the rest leaves it alone."""
    status = {"conditions": [_condition("Ready")]} | COUNTS.get(sort, {})

    async def story(client: Library) -> None:
        made = await client.create(manifest(sort, "box", namespace) | {"status": status})
        assert "status" not in made
        reported = await client.report("box", status)
        assert reported["status"]["conditions"] == status["conditions"]
        changed = await client.merge("box", {"status": None, "metadata": {"labels": {"a": "b"}}})
        assert changed["status"] == reported["status"]
        assert changed["spec"] == made["spec"]

    within(story, library(kubeconfig, namespace, sort))


def _condition(kind: str) -> Document:
    condition = {"reason": "Up", "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z"}
    return {"type": kind, "status": "True", **condition}


@every_library
def test_refusals(kubeconfig: Path, namespace: str, library: Opening) -> None:
    """Each library finds out what was wrong."""

    async def story(client: Library) -> None:
        await client.create(manifest(KITES, "box", namespace))
        pink = _merged(manifest(KITES, "pink", namespace), {"spec": {"colour": "pink"}})
        reasons = [
            await _reason(client.get("none")),
            await _reason(client.delete("none")),
            await _reason(client.create(manifest(KITES, "box", namespace))),
            await _reason(client.create(pink)),
            await _reason(client.merge("box", {"metadata": {"resourceVersion": "1"}})),
        ]
        assert reasons == ["NotFound", "NotFound", "AlreadyExists", "Invalid", "Conflict"]

    within(story, library(kubeconfig, namespace, KITES))


async def _reason(asked: Awaitable[object]) -> str:
    with pytest.raises(Refused) as refused:
        await asked
    reason: str = refused.value.status["reason"]
    return reason
