"""Requests made from the OpenAPI documents of a plane. None may make it fail; it says why it refuses."""

import json
from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import pytest
import yaml

from tests.support.generated import depth, schema_fuzz
from tests.support.generated.schema_fuzz import Document, Drawn, Request
from tests.support.kubekit import kites
from tests.support.kubekit.plane_process import PlaneProcess, running
from tests.support.kubekit.raw_client import RawClient, Reply

pytestmark = [pytest.mark.e2e, pytest.mark.slow, pytest.mark.long]

ALL_REQUESTS = depth.either(5_000, 100_000)
PARTS = depth.either(2, 5)
MOST = depth.either((1, 1), (3, 2))  # bodies that are drawn for an operation: good ones, bad ones
LARGE_SCHEMAS = ("put", "patch")  # whose bodies are those of the post as well
GREETER = yaml.safe_load((Path(__file__).parents[2] / "examples" / "greeter.yaml").read_text())
ROLE = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "view"}
ATTRIBUTES = {"verb": "get", "resource": "configmaps", "namespace": "default"}
# Requests that random generation does not find: one value twice, or a special form.
SEEDS: dict[str, list[Document]] = {
    "Workload": [GREETER],
    "CustomResourceDefinition": [yaml.safe_load(kites.DEFINITION)],
    "Event": [yaml.safe_load(kites.event("box", "u", "default"))],
    "RoleBinding": [{"metadata": {"name": "alpha"}, "roleRef": ROLE}],
    "ClusterRoleBinding": [{"metadata": {"name": "alpha"}, "roleRef": ROLE}],
    "SelfSubjectAccessReview": [
        {"spec": {"resourceAttributes": ATTRIBUTES}},
        {"metadata": {"managedFields": [{"time": {}}]}, "spec": {"resourceAttributes": ATTRIBUTES}},
    ],
    "SubjectAccessReview": [{"spec": {"user": "ann", "resourceAttributes": ATTRIBUTES}}],
    "LocalSubjectAccessReview": [
        {"metadata": {"namespace": "default"}, "spec": {"user": "a", "resourceAttributes": ATTRIBUTES}}
    ],
    "SelfSubjectRulesReview": [{"spec": {"namespace": "default"}}],
    "TokenReview": [{"spec": {"token": "a.b.c"}}],
}  # fmt: skip


@pytest.fixture
def plane(tmp_path: Path) -> Iterator[PlaneProcess]:
    with running(tmp_path / "data", "--log-level", "error") as plane:
        yield plane


@pytest.mark.parametrize("part", range(PARTS))
def test_no_request_of_the_schemas_fails(plane: PlaneProcess, part: int) -> None:
    """Every operation of every document, with what fits its schema, what does not, and spoiled."""
    operations = list(_share(plane, part))
    each = -(-ALL_REQUESTS // PARTS // len(operations))
    answered: Counter[tuple[str, int]] = Counter()
    complaints = []
    client = RawClient(plane.data, plane.url)
    find = partial(_found, client)
    for parts in _prepared(operations):
        for request in schema_fuzz.requests(parts, each, Random(parts.label), find):
            reply = client.ask(request)
            answered[request.method, reply.code] += 1
            complaints += _complaints(request, reply)
    client.close()

    assert complaints == []
    assert answered.total() >= ALL_REQUESTS // PARTS
    succeeded = {method for method, code in answered if code < 300}
    assert succeeded == {operation.method.upper() for operation in operations}
    assert plane.stop() == (
        0,
        "Stopping.\nStopped. All acknowledged writes are kept.\n",
        "",
    )


def _found(client: RawClient, path: str) -> Document | None:
    reply = client.ask(Request("GET", path))
    return json.loads(reply.body) if reply.code == 200 else None


def _share(plane: PlaneProcess, part: int) -> Iterator[Any]:
    """The operations of every so manieth group and version."""
    for number, name in enumerate(sorted(json.loads(plane.get("/openapi/v3"))["paths"])):
        if number % PARTS == part:
            yield from schema_fuzz.operations_of(json.loads(plane.get(f"/openapi/v3/{name}")))


def _prepared(operations: list[Any]) -> Iterator[Drawn]:
    """What is drawn for each operation, with the bodies that others of the same kind have."""
    known: dict[str, list[Document]] = {kind: list(seeds) for kind, seeds in SEEDS.items()}
    for operation in operations:
        few = operation.method in LARGE_SCHEMAS
        parts = schema_fuzz.drawn(operation, 1 if few else MOST[0], 1 if few else MOST[1])
        kind = parts.group_version_kind["kind"]
        own = [body for body, _ in parts.bodies if isinstance(body, dict)]
        bodies = known.setdefault(kind, [])
        names = [seed["metadata"]["name"] for seed in bodies if "name" in seed.get("metadata", {})]
        schema_fuzz.enrich(parts, bodies, names)
        if operation.method == "post":
            bodies += own
        yield parts


def _complaints(request: Request, reply: Reply) -> list[tuple[str, str, bytes]]:
    # A version that is yet to come is not there in time, in Kubernetes as well.
    if reply.code == 504 and b'"ResourceVersionTooLarge"' in reply.body:
        return []
    return [(reply.complaint, str(request), reply.body)] if reply.complaint else []
