"""Registrations and grants, and which of them count."""

import asyncio

import msgspec

from compute.api import names
from compute.api.quota import ResourceGrant, ResourceRegistration
from compute.api.resource_manager import Project
from compute.decide import quota
from compute.decide.conditions import find
from compute.services.quota import service
from compute.services.quota.grants import FirstGrants
from compute.services.quota.registrations import REGISTRATIONS
from kubekit.api.kinds.core import Namespace
from kubekit.api.meta import ObjectMeta
from kubekit.runtime.requests import Request, cluster_name
from tests.support.compute.budget_builders import started
from tests.support.compute.service_builders import CORE, PLANES, grant, namespace, planes, project
from tests.support.kubekit.deaf import listener
from tests.support.kubekit.stage import Stage, staged


def active(obj: ResourceGrant | ResourceRegistration) -> tuple[str, str]:
    said = find(obj.status.conditions, "Active")
    return (said.status, said.reason) if said else ("", "")


def test_a_new_project_may_use_the_first_grant(tmp_path):
    """Ten instances with forty cores and eighty gibibytes, which operators may change."""

    async def story(stage: Stage) -> None:
        await started(stage)
        first = await stage.named(
            "core", ResourceGrant, names.grant("shop"), CORE, lambda g: active(g)[0] == "True"
        )
        given = {a.resource_type: a.buckets[0].amount for a in first.spec.allowances}
        assert given == {quota.INSTANCES: 10, quota.VCPUS: 40_000, quota.MEMORY: 81_920}
        changed = msgspec.structs.replace(first.spec, allowances=first.spec.allowances[:1])
        await stage.client("core").patch(first, msgspec.structs.replace(first, spec=changed))
        await stage.rest()
        kept = await stage.client("core").get(ResourceGrant, names.grant("shop"), CORE)
        assert (len(kept.spec.allowances), kept.status.observed_generation) == (1, 2)
        assert await stage.quiet() == []

    staged(tmp_path, story, *PLANES)


def test_the_first_grant_comes_back_and_goes_with_its_project(tmp_path):
    """It is there for as long as the project is, and in no other project's way."""

    async def story(stage: Stage) -> None:
        await started(stage)
        core = stage.client("core")
        first = await stage.named("core", ResourceGrant, names.grant("shop"), CORE)
        await core.delete(first)
        await stage.named(
            "core",
            ResourceGrant,
            names.grant("shop"),
            CORE,
            lambda g: g.metadata.uid != first.metadata.uid,
        )
        await core.delete(await core.get(Project, "shop"))
        await stage.gone("core", ResourceGrant, names.grant("shop"), CORE)
        await stage.rest()
        assert (await core.every(ResourceGrant)).items == ()

    staged(tmp_path, story, *PLANES)


def test_what_compute_counts_is_registered_and_comes_back(tmp_path):
    """The three types are active as soon as there is a core plane, and when they were deleted."""

    async def story(stage: Stage) -> None:
        stage.start(*service.controllers(planes(stage), stage.factory))
        core = stage.client("core")
        for each in REGISTRATIONS:
            await stage.seen("core", each, lambda r: active(r) == ("True", "RegistrationActive"))
        await core.get(Namespace, CORE)
        await core.delete(await core.get(ResourceRegistration, "compute-vcpus"))
        await stage.rest()
        again = await core.get(ResourceRegistration, "compute-vcpus")
        assert active(again) == ("True", "RegistrationActive")
        assert await stage.quiet() == []

    staged(tmp_path, story, *PLANES)


def test_a_type_can_be_registered_once(tmp_path):
    """The second registration of a type says so, and takes over when the first goes."""

    async def story(stage: Stage) -> None:
        await started(stage)
        await stage.rest()
        second = msgspec.structs.replace(REGISTRATIONS[1], metadata=ObjectMeta(name="zz-vcpus"))
        await stage.client("core").create(second)
        await stage.seen("core", second, lambda r: active(r) == ("False", "ValidationFailed"))

    staged(tmp_path, story, *PLANES)


def test_a_grant_of_something_unknown_counts_once_it_is_registered(tmp_path):
    """It says what is missing, and becomes active by itself."""

    async def story(stage: Stage) -> None:
        await started(stage)
        await stage.rest()
        core = stage.client("core")
        await core.create(grant("gpus", {"example.com/gpus": 2}))
        await stage.named(
            "core",
            ResourceGrant,
            "gpus",
            CORE,
            lambda g: active(g) == ("False", "ValidationFailed"),
        )
        spec = msgspec.structs.replace(REGISTRATIONS[0].spec, resource_type="example.com/gpus")
        await core.create(ResourceRegistration(metadata=ObjectMeta(name="gpus"), spec=spec))
        await stage.named(
            "core", ResourceGrant, "gpus", CORE, lambda g: active(g) == ("True", "GrantActive")
        )
        await stage.rest()
        assert await stage.quiet() == []

    staged(tmp_path, story, *PLANES)


def test_a_project_that_goes_is_given_no_grant(tmp_path):
    """A grant that was deleted while its project goes does not come back."""

    async def story(stage: Stage) -> None:
        held = project()
        meta = msgspec.structs.replace(held.metadata, finalizers=("example.com/held",))
        core = stage.client("core")
        held = await core.create(msgspec.structs.replace(held, metadata=meta))
        stage.start(*service.controllers(planes(stage), stage.factory))
        first = await stage.named("core", ResourceGrant, names.grant("shop"), CORE)
        await core.delete(held)
        await core.delete(first)
        await stage.rest()
        assert await core.find(ResourceGrant, names.grant("shop"), CORE) is None

    staged(tmp_path, story, *PLANES)


def test_a_project_that_came_and_went_leaves_no_grant(tmp_path):
    """In any order of the two, nothing is left behind."""

    async def story(stage: Stage) -> None:
        stage.start(*service.controllers(planes(stage), stage.factory))
        await stage.rest()
        core = stage.client("core")
        for number in range(12):
            made = await core.create(project(f"p-{number}"))
            for _ in range(number):
                await asyncio.sleep(0)
            await core.delete(made)
        await stage.rest()
        assert (await core.every(ResourceGrant)).items == ()

    staged(tmp_path, story, *PLANES)


def test_a_project_that_is_only_remembered_is_given_no_grant(tmp_path):
    """What is known may be old; the Project itself is asked before anything is made for it."""

    async def story(stage: Stage) -> None:
        ear, client = listener(await stage.plane("core"))
        await stage.role("core").engage(cluster_name("core"), client)
        core = stage.client("core")
        await core.create(namespace(CORE))
        made = await core.create(project())
        informers = stage.role("core").sole().informers
        for kind in (Project, Namespace, ResourceGrant):
            await informers.of(kind).wait_synced()
        ear.stop()
        await core.delete(made)
        grants = FirstGrants(stage.role("core"), {quota.INSTANCES: 1})
        await grants.reconcile(Request(cluster_name("core"), "", "shop"))
        assert (await core.every(ResourceGrant)).items == ()

    staged(tmp_path, story)
