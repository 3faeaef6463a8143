"""One policy for each city of a hub namespace, which exists exactly while it is needed."""

import asyncio

import msgspec
import pytest

from compute.api import annotations, labels, names
from compute.api.compute import WorkloadDeployment
from compute.api.karmada import PropagationPolicy
from compute.controllers.management.federator import controller as federator
from compute.controllers.management.hub import namespaces
from compute.controllers.management.hub.policies import ensure_policy
from compute.decide.federation import policy
from kubekit.client.client import Client, K, Listing
from kubekit.client.options import EVERYTHING, PLAIN_WRITE, ListOptions, WriteOptions
from kubekit.client.reading import UnreadableObject
from kubekit.plane.local import LocalTransport
from kubekit.runtime.reporting.counters import PassResult
from tests.support.compute.federation_builders import with_meta
from tests.support.compute.management_builders import WEB, ManagementWorld, set_up

DFW = "city-dfw"
API = "api-home-dfw"


async def _policy(on: ManagementWorld, true=lambda _: True, name: str = DFW) -> PropagationPolicy:
    return await on.stage.named("hub", PropagationPolicy, name, on.hub_namespace, true)


async def _two(on: ManagementWorld) -> tuple[WorkloadDeployment, WorkloadDeployment]:
    """Two deployments of one city, both on the hub."""
    on.start(federator.controllers, namespaces.controllers)
    both = await on.deploy(), await on.deploy(API)
    await on.copy()
    await on.copy(name=API)
    return both


def test_a_policy_lives_as_long_as_a_deployment_of_its_city(tmp_path):
    """It is created with the first, and deleted with the last."""

    async def story(on: ManagementWorld) -> None:
        first, second = await _two(on)
        made = await _policy(on)
        shop = on.stage.client("shop")
        await shop.delete(first)
        await on.stage.gone("shop", WorkloadDeployment, WEB, "default")
        await on.stage.rest()
        assert (await _policy(on)).metadata.uid == made.metadata.uid
        await shop.delete(second)

        await on.stage.gone("hub", PropagationPolicy, DFW, on.hub_namespace)
        await on.stage.rest()
        assert await on.stage.quiet() == []

    set_up(tmp_path, story)


def test_w62_one_cell_of_a_city_is_chosen(tmp_path):
    """Two cells that serve one city share its deployments; no deployment is in both."""

    async def story(on: ManagementWorld) -> None:
        await _two(on)
        (spread,) = (await _policy(on)).spec.placement.spread_constraints

        assert (spread.spread_by_field, spread.min_groups, spread.max_groups) == ("cluster", 1, 1)

    set_up(tmp_path, story)


def test_w21_a_deleted_policy_is_created_again(tmp_path):
    """No deployment has to change for that."""

    async def story(on: ManagementWorld) -> None:
        await _two(on)
        gone = await _policy(on)
        await on.stage.client("hub").delete(gone)

        await _policy(on, lambda p: p.metadata.uid != gone.metadata.uid)

    set_up(tmp_path, story)


def test_w21_a_changed_policy_is_restored(tmp_path):
    """An edit on the hub does not decide where a city's deployments run."""

    async def story(on: ManagementWorld) -> None:
        await _two(on)
        right = await _policy(on)
        placement = msgspec.structs.replace(right.spec.placement, spread_constraints=())
        spec = msgspec.structs.replace(right.spec, placement=placement)
        await on.stage.client("hub").patch(right, msgspec.structs.replace(right, spec=spec))

        await _policy(on, lambda p: p.spec == right.spec)

    set_up(tmp_path, story)


def test_w23_what_servers_and_others_add_is_kept(tmp_path):
    """A default, or a priority set by an administrator, is no drift and costs no write."""

    async def story(on: ManagementWorld) -> None:
        await _two(on)
        found = await _policy(on)
        spec = msgspec.structs.replace(found.spec, priority=7)
        await on.stage.client("hub").patch(found, msgspec.structs.replace(found, spec=spec))
        await on.stage.rest()

        assert (await _policy(on)).spec.priority == 7
        assert await on.stage.quiet() == []

    set_up(tmp_path, story)


def test_a_policy_of_another_client_is_left_alone(tmp_path):
    """A policy without our label is not deleted."""

    async def story(on: ManagementWorld) -> None:
        first, second = await _two(on)
        own = with_meta(policy("LHR", on.hub_namespace), name="theirs", labels={})
        await on.stage.client("hub").create(own)
        for sent in (first, second):
            await on.stage.client("shop").delete(sent)

        await on.stage.gone("hub", PropagationPolicy, DFW, on.hub_namespace)
        await on.stage.rest()
        await _policy(on, name="theirs")

    set_up(tmp_path, story)


@pytest.mark.parametrize("pause", range(0, 60, 4))
def test_w20_a_policy_is_kept_for_a_deployment_that_arrives(tmp_path, pause):
    """Whenever the next deployment of a city is created, it has a policy that stays."""

    async def story(on: ManagementWorld) -> None:
        on.start(federator.controllers, namespaces.controllers, copies=2)
        first = await on.deploy()
        await _policy(on)
        await on.stage.rest()
        await on.stage.client("shop").delete(first)
        for _ in range(pause):
            await asyncio.sleep(0)
        await on.deploy(API)
        await on.copy(name=API)
        await on.stage.rest()

        kept = await _policy(on)
        assert annotations.UNUSED not in kept.metadata.annotations

    set_up(tmp_path, story)


def test_w20_a_new_deployment_removes_the_mark(tmp_path):
    """Then the deletion that the mark announced must not happen."""

    async def story(on: ManagementWorld) -> None:
        on.start(federator.controllers)
        await on.deploy()
        copy = await on.copy()
        found = await _policy(on)
        marked = await on.change("hub", found, annotations={annotations.UNUSED: "true"})
        await ensure_policy(on.planes.hub.sole(), copy)

        kept = await _policy(on)
        assert kept.metadata.resource_version != marked.metadata.resource_version
        assert kept.metadata.annotations == {}

    set_up(tmp_path, story)


def test_a_deleting_deployment_keeps_its_policy(tmp_path):
    """The deletion must reach its cell through the same policy."""

    async def story(on: ManagementWorld) -> None:
        on.start(federator.controllers, namespaces.controllers)
        sent = await on.deploy()
        copy = await on.change("hub", await on.copy(), finalizers=("example.com/slow",))
        await on.stage.client("shop").delete(sent)
        await on.copy(lambda c: c.deleting)
        await on.stage.rest()
        await _policy(on)
        await on.change("hub", copy, finalizers=())

        await on.stage.gone("hub", PropagationPolicy, DFW, on.hub_namespace)

    set_up(tmp_path, story)


def test_a_deployment_without_a_city_has_no_policy(tmp_path):
    """An empty city would select the wrong cells."""

    async def story(on: ManagementWorld) -> None:
        await _two(on)
        hub = on.stage.client("hub")
        bare = with_meta(await on.copy(), name="bare", uid="", resource_version="", labels={})
        await hub.create(bare)
        await on.stage.rest()

        listed = await hub.every(PropagationPolicy, on.hub_namespace)
        assert [p.metadata.name for p in listed.items] == [DFW]

    set_up(tmp_path, story)


class _Newer(Client):
    """A hub with a deployment of a newer release, which is unreadable here."""

    async def list(
        self, kind: type[K], namespace: str = "", options: ListOptions = EVERYTHING
    ) -> Listing[K]:
        listed = await super().list(kind, namespace, options)
        if kind is not WorkloadDeployment:
            return listed
        bad = tuple(
            UnreadableObject(i.metadata.namespace, i.metadata.name, "new") for i in listed.items
        )
        return Listing((), listed.resource_version, unreadable=bad)


class _Raced(Client):
    """A hub where another writer creates each policy a moment earlier."""

    async def create(self, obj: K, options: WriteOptions = PLAIN_WRITE) -> K:
        if isinstance(obj, PropagationPolicy):
            await super().create(obj, options)
        return await super().create(obj, options)


def test_a_policy_that_another_writer_created_at_the_same_moment_ends_no_pass(tmp_path):
    """The deployment is reported as federated, and its status as well."""

    async def story(on: ManagementWorld) -> None:
        await on.leave("hub")
        await on.engage("hub", _Raced(LocalTransport(on.stage.planes["hub"])))
        on.start(federator.controllers, namespaces.controllers)
        await on.deploy()
        await _policy(on)
        await on.reported((WEB, "Normal", "Federated"))
        results = on.stage.factory.metrics.controller(federator.NAME).results
        assert results[PassResult.REQUEUE] == results[PassResult.ERROR] == 0

    set_up(tmp_path, story)


def test_a_deployment_that_cannot_be_read_keeps_the_policies(tmp_path):
    """It may be of that city."""

    async def story(on: ManagementWorld) -> None:
        on.start(federator.controllers)
        await on.deploy()
        await _policy(on)
        await on.stage.rest()
        await on.leave("projects", "hub")
        await on.engage("hub", _Newer(LocalTransport(on.stage.planes["hub"])))
        on.start(namespaces.controllers)
        await on.stage.rest()

        assert annotations.UNUSED not in (await _policy(on)).metadata.annotations

    set_up(tmp_path, story)


def test_two_spellings_of_a_city_are_two_policies(tmp_path):
    """Each selects its own spelling, and is deleted with its own last deployment."""

    async def story(on: ManagementWorld) -> None:
        on.start(federator.controllers, namespaces.controllers)
        upper = await on.deploy("a-home-lax", "LAX")
        await on.deploy("b-home-lax", "lax")
        await _policy(on, name=names.policy("LAX"))
        lower = await _policy(on, name=names.policy("lax"))
        await on.stage.client("shop").delete(upper)

        await on.stage.gone("hub", PropagationPolicy, names.policy("LAX"), on.hub_namespace)
        await on.stage.rest()
        kept = await _policy(on, name=names.policy("lax"))
        assert kept.metadata.uid == lower.metadata.uid
        assert (await on.copy(name="b-home-lax")).metadata.labels[
            labels.TOPOLOGY_CITY_CODE
        ] == "lax"

    set_up(tmp_path, story)
