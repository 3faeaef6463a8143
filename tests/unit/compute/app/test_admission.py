"""What a project's plane asks before a Workload is stored, in process and through webhooks.

Both are the same rules, so each test runs with each of them.
"""

import asyncio
import base64
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Any

import msgspec
import pytest

from compute.api.compute import Workload
from compute.app.admission import WorldAdmission
from compute.app.planes import PlaneRef
from compute.controllers.management.admission.webhooks import MUTATE, VALIDATE, handlers
from compute.controllers.management.admission.workload_admission import (
    PARENT_NAME,
    WorkloadAdmission,
)
from compute.services.network.admission import NetworkAdmission
from compute.services.quota.admission import ClaimAdmission
from kubekit.api.errors import Forbidden, Invalid
from kubekit.client.options import PLAIN_WRITE, PatchType, WriteOptions
from kubekit.plane.local import RecordClient
from kubekit.plane.plane import Plane
from kubekit.plane.registry.verbs.results import WriteResult
from kubekit.plane.users import MASTERS, PLANE_USER, User
from kubekit.runtime.clusters import Clusters
from kubekit.runtime.requests import cluster_name
from kubekit.runtime.serving.http_server import ServingSettings
from kubekit.runtime.serving.tls_files import TlsFiles, TlsPaths
from kubekit.runtime.serving.webhook_server import WebhookServer
from tests.support.compute.review_recorder import ReviewRecorder
from tests.support.compute.validation_builders import CITIES, changed, sandbox
from tests.support.compute.workload_builders import PROJECT, binding
from tests.support.kubekit.admission_builders import MUTATING, VALIDATING
from tests.support.kubekit.plane_worlds import environment
from tests.support.kubekit.serving_builders import TestAuthority, mounted
from tests.support.kubekit.stage import Stage, staging

Document = dict[str, Any]
POLICY = "spec/placements/0/scaleSettings/instanceManagementPolicy"
EMPTY = sandbox({POLICY: ""})
APPLY = WriteOptions(field_manager="ann", force=True)
ANN = User("ann", ("developers",))
INSTANCE = {
    "apiVersion": "compute.datumapis.com/v1alpha",
    "kind": "Instance",
    "metadata": {"name": "web-home-dfw-0"},
    "spec": sandbox()["spec"]["template"]["spec"],
}
LATER = "registry.test/web:2"
IMAGE = "spec/template/spec/runtime/sandbox/containers/0/image"


@dataclass
class Project:
    """A project's plane, written to as its users do."""

    plane: Plane
    role: Clusters

    async def create(self, document: Document, user: User = PLANE_USER) -> WriteResult:
        kind = self.plane.kinds.require(document["apiVersion"], document["kind"])
        namespace = "default" if kind.resource.namespaced else ""
        return await self.plane.registry.create(kind, namespace, document, PLAIN_WRITE, user)

    async def patch(
        self, how: PatchType, patch: object, options: WriteOptions = PLAIN_WRITE
    ) -> WriteResult:
        registry = self.plane.registry
        return await registry.patch(self._kind, "default", "web", how, patch, options)

    async def apply(self, document: Document) -> WriteResult:
        return await self.patch(PatchType.APPLY, document, APPLY)

    @property
    def _kind(self) -> Any:
        resource = Workload.RESOURCE
        return self.plane.kinds.require(resource.api_version, resource.kind)


Story = Callable[[Project], Coroutine[Any, Any, None]]


def both_ways(story: Story) -> Callable[[Path, str], None]:
    """The story as a test of the rules in process, and of the same rules behind HTTP."""

    @pytest.mark.parametrize("mode", ["in process", "webhooks"])
    @wraps(story)
    def test(tmp_path: Path, mode: str) -> None:
        async def run_story() -> None:
            async with _project(tmp_path, mode) as project:
                await story(project)

        asyncio.run(run_story())

    del test.__wrapped__  # pytest takes the arguments of the test, not of the story
    return test


@asynccontextmanager
async def _project(directory: Path, mode: str) -> AsyncIterator[Project]:
    async with AsyncExitStack() as stack:
        stage = await stack.enter_async_context(staging(directory, [("projects", PROJECT)]))
        for city in CITIES:
            await stage.client(PROJECT).create(binding(city))
        plane = stage.planes[PROJECT]
        admission = WorkloadAdmission(stage.role("projects"))
        if mode == "webhooks":
            at = await stack.enter_async_context(_serving(directory, admission))
            await _configure(stage, MUTATING, at(MUTATE))
            await _configure(stage, VALIDATING, at(VALIDATE))
        else:
            claims = ClaimAdmission(stage.role("core"))
            networks = NetworkAdmission(stage.role("projects"))
            WorldAdmission(admission, networks, claims).opened(PlaneRef("project", PROJECT), plane)
        yield Project(plane, stage.role("projects"))


@asynccontextmanager
async def _serving(
    directory: Path, admission: WorkloadAdmission
) -> AsyncIterator[Callable[[str], Document]]:
    """The webhooks of a manager over HTTPS. Yields the client configuration of a path."""
    authority = TestAuthority.new()
    mounted(directory / "tls", "1", authority.issue("webhooks"))
    tls = TlsFiles(TlsPaths.within(directory / "tls"))
    server = WebhookServer(handlers(admission), ServingSettings(tls=tls), environment())
    await server.start()
    bundle = base64.b64encode(authority.pem).decode()
    url = f"https://localhost:{server.address.port}"
    try:
        yield lambda path: {"url": url + path, "caBundle": bundle}
    finally:
        await server.close()


async def _configure(stage: Stage, kind: str, client: Document) -> None:
    """A webhook configuration as the original's, but for the address."""
    plane = stage.planes[PROJECT]
    found = plane.kinds.require("admissionregistration.k8s.io/v1", kind)
    rule = {
        "apiGroups": ["compute.datumapis.com"],
        "apiVersions": ["v1alpha"],
        "operations": ["CREATE", "UPDATE"],
        "resources": ["workloads"],
    }
    hook = {
        "name": "workload.kb.io",
        "clientConfig": client,
        "rules": [rule],
        "failurePolicy": "Fail",
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
    }
    document = {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": kind,
        "metadata": {"name": "workloads"},
        "webhooks": [hook],
    }
    await plane.registry.create(found, "", document, PLAIN_WRITE)


def stored(written: WriteResult) -> Document:
    document: Document = msgspec.json.decode(written.record.data)
    return document


def policy(written: WriteResult) -> str:
    (placement,) = stored(written)["spec"]["placements"]
    found: str = placement["scaleSettings"]["instanceManagementPolicy"]
    return found


@both_ways
async def test_what_is_stored_is_what_was_validated(project: Project) -> None:
    """An empty policy is stored as the default one, by every verb that writes it."""
    assert policy(await project.create(EMPTY)) == "OrderedReady"
    parallel = {"spec": {"placements": sandbox({POLICY: "Parallel"})["spec"]["placements"]}}
    assert policy(await project.patch(PatchType.MERGE, parallel)) == "Parallel"
    emptied = {"spec": {"placements": EMPTY["spec"]["placements"]}}
    assert policy(await project.patch(PatchType.MERGE, emptied)) == "OrderedReady"


@both_ways
async def test_no_write_causes_a_warning(project: Project) -> None:
    """Every stored Workload has managed fields, and more of them with each write."""
    created = await project.create(sandbox())
    annotated = {"metadata": {"annotations": {"team": "blue"}}}
    patched = await project.patch(PatchType.MERGE, annotated)
    applied = await project.apply(sandbox({IMAGE: LATER}))
    assert [each.warnings for each in (created, patched, applied)] == [(), (), ()]
    assert len(stored(applied)["metadata"]["managedFields"]) == 2


@both_ways
async def test_an_apply_is_completed_once(project: Project) -> None:
    """Applied again it writes nothing, and its fields belong to the applier alone."""
    first = await project.apply(EMPTY)
    again = await project.apply(EMPTY)
    assert policy(first) == "OrderedReady"
    assert again.record == first.record
    (entry,) = stored(first)["metadata"]["managedFields"]
    assert (entry["manager"], entry["operation"]) == ("ann", "Apply")


@both_ways
async def test_an_old_workload_is_completed_with_its_next_change(project: Project) -> None:
    """Until then it stays as it is: a write of its metadata makes no new generation."""
    admission = project.plane.registry.admission
    asked, admission.mutating = admission.mutating, []
    await project.create(EMPTY)
    admission.mutating = asked

    held = await project.patch(PatchType.MERGE, {"metadata": {"finalizers": ["example.com/x"]}})
    assert (policy(held), stored(held)["metadata"]["generation"]) == ("", 1)
    spec = changed(EMPTY, {IMAGE: LATER})["spec"]
    assert policy(await project.patch(PatchType.MERGE, {"spec": spec})) == "OrderedReady"


@both_ways
async def test_a_refusal_names_every_field(project: Project) -> None:
    """With the causes that programs read."""
    wrong = sandbox({"spec/placements/0/cityCodes": ["XXX"], IMAGE: ""})
    with pytest.raises(Invalid) as refusal:
        await project.create(wrong)
    details = refusal.value.details
    assert details is not None
    assert [cause.field for cause in details.causes] == [
        "spec.template.spec.runtime.sandbox.containers[0].image",
        "spec.placements[0].cityCodes[0]",
    ]


def test_everything_known_of_a_user_reaches_the_access_review(tmp_path: Path) -> None:
    """From the API server over the webhook: a reviewer finds the project in the extra claims."""
    extra = {PARENT_NAME: (PROJECT,), "iam.test/team": ("a", "b")}
    user = User("zoe", (MASTERS, "developers"), "7", extra)

    async def run_story() -> None:
        async with _project(tmp_path, "webhooks") as project:
            recorder = ReviewRecorder(project.plane)
            await project.role.engage(cluster_name(PROJECT), RecordClient(recorder))
            await project.create(sandbox(), user)
            (spec,) = (review.spec for review in recorder.reviews)
            assert (spec.user, spec.uid, spec.extra) == ("zoe", "7", extra)
            assert set(spec.groups) >= {MASTERS, "developers"}

    asyncio.run(run_story())


@pytest.mark.parametrize("user", [ANN, User("admin", (MASTERS,))], ids=["ann", "administrator"])
def test_a_user_cannot_create_an_instance(tmp_path: Path, user: User) -> None:
    """No cell would run it. The platform creates the Instances of a project, for Workloads."""

    async def run_story() -> None:
        async with _project(tmp_path, "in process") as project:
            with pytest.raises(Forbidden, match="only the platform creates Instances"):
                await project.create(INSTANCE, user)
            assert (await project.create(INSTANCE, PLANE_USER)).created

    asyncio.run(run_story())


def test_only_operators_approve_an_entitlement(tmp_path: Path) -> None:
    """A request of a user may not bring its approval along."""

    async def run_story() -> None:
        async with _project(tmp_path, "in process") as project:
            with pytest.raises(Forbidden, match="only the operators of the platform approve"):
                await project.create(_entitlement("mine", approval="Approved"), ANN)
            await project.create(_entitlement("asked"), ANN)
            administrator = User("admin", (MASTERS,))
            await project.create(_entitlement("given", approval="Approved"), administrator)

    asyncio.run(run_story())


def _entitlement(name: str, **decision: str) -> Document:
    marks = {f"services.miloapis.com/{key}": value for key, value in decision.items()}
    return {
        "apiVersion": "services.miloapis.com/v1alpha1",
        "kind": "ServiceEntitlement",
        "metadata": {"name": name, "annotations": marks},
        "spec": {"serviceRef": {"name": "compute.datumapis.com"}},
    }
