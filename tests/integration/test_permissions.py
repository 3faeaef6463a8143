"""What each part of a world sends, compared with the permissions that are declared for it.

On a real cluster a part has the declared permissions and no others: an undeclared request would be
refused, and a permission without a request is one too many.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import cache

import pytest

from compute.api.compute import Instance, Workload, WorkloadDeployment
from compute.api.karmada import PropagationPolicy
from compute.api.networking import Location, LocationBinding, Network
from compute.api.permissions import Permission
from compute.api.resource_manager import Project
from compute.app.links import Link
from compute.app.manager_permissions import PARTS
from compute.app.planes import PlaneRef
from compute.app.world import World
from kubekit.api.kinds.core import Namespace
from kubekit.api.meta import with_metadata
from kubekit.client.client import Client
from tests.integration.apart import running_apart
from tests.integration.operators import lose, make_network, on_network, settings
from tests.integration.test_rollouts import restarted
from tests.integration.worlds import PROJECT, Watched, with_replicas, workload
from tests.support.compute.permission_checks import covers, undeclared
from tests.support.kubekit.request_audit import AuditedTransport, SentRequest
from tests.support.kubekit.virtual_time import run

CITIES = ("DFW", "LHR")
# The embedded parts: which parts of a manager each of them is.
EMBEDDED = {
    "admission": ("management", "stand-in-quota"),
    "management": ("management",),
    "quota": ("stand-in-quota",),
    "network": ("stand-in-networks",),
    "platform": (
        "stand-in-projects",
        "stand-in-entitlements",
        "stand-in-locations",
        "stand-in-networks",
    ),
    "cell": ("cell",),
    "provider": ("provider-simulated",),
}
ELSEWHERE = {"provider-pods"}  # no world runs Pods: it has a test of its own

# What the story does not use, in several parts or in one, and what it is needed for.
_ALONE = "an election between replicas; the embedded parts have none"
ANYWHERE = {
    "get leases": _ALONE,
    "create leases": _ALONE,
    "patch leases": _ALONE,
    "get events": "reading an event whose creation was not answered in time",
    "patch events": "counting an event that is repeated",
}
_NAMED = "naming the writer that undoes the part's own writes"
_OWNERS = "a server that checks who blocks the deletion of an owner"
_MOVED = "a deployment that the engine moves to another cell"
_INSIDE = "a manager inside of Milo's own cluster"
_CONSUMERS = "a platform that engages projects by the records of their consumption"
_UID = "comparing the hub with the cell when a manager starts"
UNUSED = {
    "cell on cell: delete networkbindings": "a network that a template no longer names",
    "cell on cell: get namespaces": _UID,
    "cell on cell: update workloaddeployments/finalizers": _OWNERS,
    "cell on hub: get namespaces": _UID,
    "cell on project: create events": "a leaked claim that is released",
    "cell on project: patch resourceclaims": "a claim that a later deployment takes over",
    "management on core: get projectcontrolplanes": _INSIDE,
    "management on core: list projectcontrolplanes": _INSIDE,
    "management on core: watch projectcontrolplanes": _INSIDE,
    "management on hub: get resourcebindings": _MOVED,
    "management on hub: patch instances": _MOVED,
    "management on project: delete configmaps": "the history of an earlier Workload of the name",
    "management on project: list resourceclaims": _MOVED,
    "management on project: list serviceconsumers": _CONSUMERS,
    "management on project: watch serviceconsumers": _CONSUMERS,
    "management on project: delete resourceclaims": _MOVED,
    "management on project: update workloads/finalizers": _OWNERS,
    "provider-simulated on cell: get configmaps": "a machine that is started before the first list",
    "provider-simulated on cell: get instances": _NAMED,
    "stand-in-entitlements on project: get serviceentitlements": _NAMED,
    "stand-in-locations on cell: delete locations": "a cell that moves to another city",
    "stand-in-locations on cell: get locations": _NAMED,
    "stand-in-locations on cell: patch locations": "a Location that is edited",
    "stand-in-locations on project: get locationbindings": _NAMED,
    "stand-in-locations on project: patch locationbindings": "a LocationBinding that is edited",
    "stand-in-networks on cell: get namespaces": "a namespace that is not cached yet",
    "stand-in-networks on cell: patch subnets": "a Subnet that is edited",
    "stand-in-networks on project: patch subnets": "an entry of a ledger that is edited",
    "stand-in-projects on project: delete workloaddeployments": "a deployment without a Workload",
    "stand-in-quota on core: create namespaces": "a core without the namespace of the platform",
    "stand-in-quota on core: get configmaps": _NAMED,
    "stand-in-quota on project: delete allowancebuckets": "a bucket that is gone from the core",
    "stand-in-quota on project: get resourceclaims": _NAMED,
    "stand-in-quota on project: patch allowancebuckets": "a copy of a bucket that is edited",
}
Sent = dict[tuple[str, str], set[SentRequest]]  # by part and role of the plane


class AuditedWorld(World):
    """A world that records the requests of its parts."""

    sent: Sent

    def connect(self, part: str, ref: PlaneRef, manager: str, links: Sequence[Link]) -> Client:
        client = super().connect(part, ref, manager, links)
        if not hasattr(self, "sent"):
            self.sent = defaultdict(set)
        record = self.sent[part.partition(" ")[0], ref.role].add
        return Client(AuditedTransport(client.raw, record))


def story() -> Sent:
    """What the parts of a world send in the life of a project."""

    async def main() -> Sent:
        async with running_apart(CITIES, kind=AuditedWorld) as world:
            await live(world)
            assert isinstance(world.world, AuditedWorld)
            return world.world.sent

    return run(main())


async def live(world: Watched) -> None:
    """Deploy, restart, scale, edit, run out of quota and networks, lose a cell, and delete it all."""
    await world.deploy(workload(cities=CITIES, replicas=2))
    await settings(world, "dfw", "simulated-provider", startSeconds="soon")
    await settings(world, "dfw", "network-faults", fail="some")
    await settings(world, "core", "entitlements", approval="Sometimes")
    await world.change("web", restarted)
    await world.served("web")
    await world.change("web", with_replicas(1))
    await world.served("web")
    await edit(world)
    list(world.world.metrics()["management"].registry.collect())
    await make_network(world, "side", "10.9.0.0/16")
    await world.deploy(on_network("side", workload("side", cities=("DFW",))))
    await world.user.delete(await world.user.get(Network, "side", "default"))
    await world.limit(3)
    await world.user.create(workload("more", cities=("DFW",)))
    await world.quiet(60.0)
    await world.user.delete(await world.user.get(Workload, "side", "default"))
    await world.gone(PROJECT, Network, "side", "default", 120.0)
    await world.served("more")
    await lose(world, "lhr")
    await world.user.delete(await world.user.get(Workload, "more", "default"))
    await world.gone(PROJECT, Workload, "more", "default")
    core = world.client("core")
    await core.delete(await core.get(Project, PROJECT))
    await world.gone("core", Project, PROJECT, seconds=900.0)


async def edit(world: Watched) -> None:
    """Change by hand what controllers keep, on each plane."""
    space, hub, cell = await world.space(), world.client("hub"), world.client("dfw")
    for client, kind, name, namespace in (
        (world.user, Instance, "web-home-dfw-0", "default"),
        (world.user, WorkloadDeployment, "web-home-dfw", "default"),
        (hub, Instance, "web-home-dfw-0", space),
        (hub, WorkloadDeployment, "web-home-dfw", space),
        (cell, Instance, "web-home-dfw-0", space),
    ):
        present = await client.get(kind, name, namespace)
        await client.patch(present, with_metadata(present, labels={}))
    stored = await hub.get(Namespace, space)
    await hub.patch(stored, with_metadata(stored, labels={}))
    policy = await hub.get(PropagationPolicy, "city-dfw", space)
    await hub.delete(policy)
    await world.user.delete(await world.user.get(LocationBinding, "lhr"))
    await cell.delete(await cell.get(Location, "dfw"))
    await world.rest()


@cache
def requests() -> Sent:
    """The requests of a whole story, which is run once."""
    return story()


@pytest.mark.parametrize("part", EMBEDDED)
def test_a_part_sends_nothing_that_is_not_declared(part):
    """On each plane every request is covered by a declaration of the part."""
    for (sender, role), sent in requests().items():
        if sender == part:
            declared = [p for name in EMBEDDED[part] for p in PARTS[name] if p.plane == role]
            assert undeclared(sent, declared) == [], role


def test_every_part_but_the_engine_is_declared():
    """On many machines Karmada does what the engine does, with permissions of its own."""
    assert {part for part, _ in requests()} == {*EMBEDDED, "engine"}


def test_every_declared_permission_is_used_or_has_a_reason():
    """A reason that is not needed any more is removed too."""
    unused = {
        f"{part} on {permission.plane}: {verb} {permission.resource}"
        for part, permissions in PARTS.items()
        if part not in ELSEWHERE
        for permission in permissions
        for verb in permission.verbs
        if not any(covers(permission, each) for each in _sent(part, permission, verb))
    }
    rare = {each for each in unused if each.partition(": ")[2] in ANYWHERE}
    assert sorted(unused - rare) == sorted(UNUSED)
    assert {each.partition(": ")[2] for each in rare} == set(ANYWHERE)


def _sent(part: str, permission: Permission, verb: str) -> Iterable[SentRequest]:
    """The requests of a part with this verb, on the plane of the permission."""
    senders = [sender for sender, parts in EMBEDDED.items() if part in parts]
    every = [requests().get((sender, permission.plane), set()) for sender in senders]
    return (each for sent in every for each in sent if each.verb == verb)
