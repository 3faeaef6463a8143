"""Values that cannot work are reported, and can always be taken back.

A Workload that serves is given a bad value, its status says what is wrong, and it is given a good one
again: it serves, and every plane is as if the bad value had never been.
"""

from collections.abc import Callable, Mapping
from functools import cache

import msgspec
import pytest

from compute.api.compute import Instance, Workload
from compute.api.karmada import MemberCluster, Taint
from kubekit.api.errors import Invalid
from tests.integration.apart import run_story_apart
from tests.integration.operators import blocked, make_network, settings
from tests.integration.test_moved_networks import on_networks
from tests.integration.test_traps import uids
from tests.integration.worlds import Story, Watched, with_image, with_replicas, workload
from tests.support.compute.end_states import State, compared, differences

Change = Callable[[Workload], Workload]

QUOTA = 4  # Instances
GOOD, BETTER = "registry.test/web:1", "registry.test/web:2"
POLICIES = {
    "one": (1, "OrderedReady"),
    "in order": (3, "OrderedReady"),
    "together": (3, "Parallel"),
}
WAYS = {"one": GOOD, "in order": BETTER, "together": GOOD}  # out of a bad value: back, or on


def in_cities(*cities: str) -> Change:
    def changed(present: Workload) -> Workload:
        (home,) = present.spec.placements
        placements = (msgspec.structs.replace(home, city_codes=cities),)
        spec = msgspec.structs.replace(present.spec, placements=placements)
        return msgspec.structs.replace(present, spec=spec)

    return changed


def of_type(name: str) -> Change:
    def changed(present: Workload) -> Workload:
        template = present.spec.template
        resources = msgspec.structs.replace(template.spec.runtime.resources, instance_type=name)
        runtime = msgspec.structs.replace(template.spec.runtime, resources=resources)
        inner = msgspec.structs.replace(template.spec, runtime=runtime)
        outer = msgspec.structs.replace(template, spec=inner)
        return msgspec.structs.replace(
            present, spec=msgspec.structs.replace(present.spec, template=outer)
        )

    return changed


def like(wanted: Workload) -> Change:
    """A change of a Workload: the spec of another."""
    return lambda present: msgspec.structs.replace(present, spec=wanted.spec)


# What to change, and what the Workload then says.
REPORTED: Mapping[str, tuple[Change, str]] = {
    "no such image": (with_image("registry.test/does-not-exist:1"), "cannot be pulled"),
    "an image that crashes": (with_image("registry.test/crash:1"), "ends again and again"),
    "a wrong setting": (with_image("registry.test/misconfigured:1"), "does not start with the var"),
    "no such network": (on_networks("nowhere"), "networks not found: nowhere"),
    "a network that fails": (on_networks("failing"), "failing could not be set up at dfw"),
    "a network too small": (on_networks("tiny"), "172.32.0.0/30 is too small"),
    "too many": (with_replicas(QUOTA + 2), f"1 asked for, 0 of {QUOTA} left"),
    "a closed city": (in_cities("SIN"), "No cell serves SIN"),
    "a closed city too": (in_cities("DFW", "SIN"), "No cell serves SIN"),
}
# What to change, and the field that is refused.
REFUSED: Mapping[str, tuple[Change, str]] = {
    "no such size": (of_type("datumcloud/d1-huge"), "runtime.resources.instanceType"),
    "no such city": (in_cities("XYZ"), "placements[0].cityCodes[0]"),
    "no city": (in_cities(), "placements[0].cityCodes"),
    "none of it": (with_replicas(0), "scaleSettings.minReplicas"),
    "no image": (with_image(""), "containers[0].image"),
    "no network": (on_networks(), "networkInterfaces"),
}


def good(policy: str, image: str = GOOD) -> Workload:
    replicas, named = POLICIES[policy]
    made = workload(cities=("DFW",), replicas=replicas, instance_management_policy=named)
    return with_image(image)(made)


async def prepare(world: Watched) -> None:
    """Everything that can be wrong for a Workload here."""
    await world.limit(QUOTA)
    await make_network(world, "failing", "172.16.0.0/12")
    await make_network(world, "tiny", "172.32.0.0/30")
    await settings(world, "dfw", "network-faults", failNetworks="failing")
    hub = world.client("hub")
    cluster = await hub.get(MemberCluster, "sin")
    spec = msgspec.structs.replace(cluster.spec, taints=(Taint(key="shut", effect="NoSchedule"),))
    await hub.patch(cluster, msgspec.structs.replace(cluster, spec=spec))


@cache
def fresh(policy: str, image: str = GOOD) -> State:
    """What all planes are like when the Workload is simply created."""

    async def story(world: Watched) -> None:
        await world.user.create(good(policy, image))

    return reverted(policy, image, story)


def reverted(policy: str, image: str, story: Story) -> State:
    """What all planes are like when the Workload is good again after a story."""
    states: list[State] = []

    async def whole(world: Watched) -> None:
        await prepare(world)
        await story(world)
        await world.change("web", like(good(policy, image)))
        await world.served("web", seconds=300.0)
        await world.rest()
        states.append(compared(world))

    run_story_apart(whole, ("DFW", "SIN"))
    return states[0]


@pytest.mark.parametrize(("policy", "image"), WAYS.items(), ids=WAYS)
@pytest.mark.parametrize(("bad", "text"), REPORTED.values(), ids=REPORTED)
def test_a_value_that_cannot_work_is_reported_and_can_be_taken_back(bad, text, policy, image):
    """The old spec or a better one ends it, whatever the health of what the bad one made."""

    async def story(world: Watched) -> None:
        await world.deploy(good(policy))
        await world.change("web", bad)
        await blocked(world, "web", text)
        await world.rest()

    assert differences(reverted(policy, image, story), fresh(policy, image)) == []


@pytest.mark.parametrize("policy", POLICIES)
def test_one_bad_value_after_the_other_can_be_taken_back(policy):
    """None waits for the one before it to become healthy, nor does the way back."""

    async def story(world: Watched) -> None:
        await world.deploy(good(policy))
        for bad, text in REPORTED.values():
            await world.change("web", like(bad(good(policy))))
            await blocked(world, "web", text)

    assert differences(reverted(policy, GOOD, story), fresh(policy)) == []


@pytest.mark.parametrize("policy", POLICIES)
def test_without_any_quota_what_runs_can_roll_and_what_is_too_much_can_be_taken_back(policy):
    """A slot keeps its claim, and only what is new is denied."""

    async def story(world: Watched) -> None:
        await world.deploy(good(policy))
        await world.limit(0)
        await world.change("web", with_replicas(QUOTA))
        await blocked(world, "web", "1 asked for, 0 of 0 left")
        await world.change("web", like(good(policy, BETTER)))
        await world.served("web", seconds=300.0)
        await world.limit(QUOTA)

    assert differences(reverted(policy, GOOD, story), fresh(policy)) == []


@pytest.mark.parametrize(("bad", "field"), REFUSED.values(), ids=REFUSED)
def test_what_can_never_work_is_refused_and_changes_nothing(bad, field):
    """The field is named, and every Instance is the one it was."""

    async def story(world: Watched) -> None:
        await world.deploy(good("in order"))
        await world.rest()
        before = await uids(world, "dfw", Instance)
        with pytest.raises(Invalid) as refusal:
            await world.change("web", bad)
        assert refusal.value.details is not None
        assert any(cause.field.endswith(field) for cause in refusal.value.details.causes)
        assert await world.quiet(60.0) == []
        assert await uids(world, "dfw", Instance) == before

    assert differences(reverted("in order", GOOD, story), fresh("in order")) == []
